from __future__ import annotations

from unified_state.model.step import KINDS


def test_the_positions_of_the_kinds_never_change() -> None:
    """The archive stores them."""
    assert KINDS == ("prompt", "text", "thinking", "tool_call", "tool_result", "tool_file", "attachment", "notice")
