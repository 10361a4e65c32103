from __future__ import annotations

import pytest

from tests.builders import item
from unified_state.memory.ledger.rules.short_item import is_binding, may_decide
from unified_state.model.constraint import ORIGINS, USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION


@pytest.mark.parametrize("origin", ORIGINS)
def test_only_what_the_user_said_binds(origin: str) -> None:
    assert is_binding(item(1, CONSTRAINT, blocking=True, origin=origin)) == (origin == USER_SAID)


def test_only_a_blocking_constraint_binds() -> None:
    assert not is_binding(item(1, CONSTRAINT, origin=USER_SAID))
    assert not is_binding(item(1, DECISION, reversible=False, origin=USER_SAID))


@pytest.mark.parametrize("origin", ORIGINS)
def test_only_the_user_accepts_what_is_proposed(origin: str) -> None:
    assert may_decide(origin) == (origin == USER_SAID)
