from __future__ import annotations

import pytest

from unified_state.model.hook_event import HookEvent


def test_a_field_that_only_some_events_have_is_found() -> None:
    assert HookEvent("SessionStart", extra={"source": "clear"}).text("source") == "clear"


@pytest.mark.parametrize("extra", [{}, {"source": None}, {"source": 5}, {"source": ["clear"]}])
def test_what_is_missing_or_no_text_is_empty(extra: dict[str, object]) -> None:
    assert HookEvent("SessionStart", extra=extra).text("source") == ""


def test_no_agent_type_is_not_the_same_as_an_empty_one() -> None:
    """An empty one is the compaction's own SubagentStop."""
    assert HookEvent("SubagentStop").agent_type is None
