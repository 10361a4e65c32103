from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import NOW, SESSION, item, prompt
from tests.terminal import call_at_terminal
from unified_state.errors import NotFoundError, UsageError
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.ledger.item_table import find_item, insert_item, link_items
from unified_state.memory.ledger.record_item import accept, dismiss
from unified_state.memory.repository.place import Place
from unified_state.model.constraint import INFERRED, USER_SAID
from unified_state.model.item import CONSTRAINT
from unified_state.restore.compose_restore import gather

Keep = Callable[..., None]


@pytest.fixture
def proposal(keep: Keep) -> str:
    """The ref of a rule that the user said and that was captured."""
    keep(prompt(1, "Always run the linter."))
    return "C1"


def told(archive: Archive, place: Place) -> list[str]:
    return [one.alias for one in gather(archive, place, session_number(archive, SESSION), "compact", NOW).items]


def test_an_accepted_proposal_is_a_fact_and_given_back(archive: Archive, place: Place, proposal: str) -> None:
    assert told(archive, place) == []
    call_at_terminal(accept, archive.path, proposal, USER_SAID, NOW)
    accepted = find_item(archive, proposal)
    assert (accepted.status, accepted.origin) == ("active", "user_said")
    assert told(archive, place) == [proposal]


def test_a_dismissed_proposal_is_none(archive: Archive, place: Place, proposal: str) -> None:
    call_at_terminal(dismiss, archive.path, proposal, USER_SAID, NOW)
    assert told(archive, place) == []
    assert find_item(archive, proposal).status == "dismissed"


@pytest.mark.parametrize("decide", [accept, dismiss])
def test_only_a_proposal_can_be_decided_on(archive: Archive, proposal: str, decide: Callable[..., object]) -> None:
    call_at_terminal(dismiss, archive.path, proposal, USER_SAID, NOW)
    with pytest.raises(UsageError, match="C1 is dismissed, not proposed"):
        decide(archive, proposal, USER_SAID, NOW)
    with pytest.raises(NotFoundError):
        decide(archive, "C7", USER_SAID, NOW)


def test_an_accepted_change_takes_the_place_of_what_it_changes(archive: Archive) -> None:
    older, newer = item(1, CONSTRAINT), item(2, CONSTRAINT, status="proposed")
    for one in (older, newer):
        insert_item(archive, one)
    link_items(archive, newer, "changes", older, newer.created_at)
    call_at_terminal(accept, archive.path, "C2", USER_SAID, NOW)
    assert (find_item(archive, "C1").status, find_item(archive, "C1").superseded_by) == ("superseded", newer.uuid)


@pytest.mark.parametrize("decide", [accept, dismiss])
def test_an_agent_does_not_decide_what_is_proposed(
    archive: Archive, proposal: str, decide: Callable[..., object]
) -> None:
    with pytest.raises(UsageError, match="only the user"):
        decide(archive, proposal, INFERRED, NOW)
    assert find_item(archive, proposal).status == "proposed"
