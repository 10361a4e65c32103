from __future__ import annotations

from unified_state.model.hook_event import HookEvent


def test_a_field_that_only_some_events_have_is_found() -> None:
    assert HookEvent("SessionStart", extra={"source": "clear"}).text("source") == "clear"
