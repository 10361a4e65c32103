from __future__ import annotations

from unified_state.model.constraint import INFERRED, OBSERVED, ORIGINS, USER_SAID


def test_an_item_comes_from_the_user_from_a_tool_or_from_a_model() -> None:
    assert ORIGINS == (USER_SAID, OBSERVED, INFERRED) == ("user_said", "observed", "inferred")
