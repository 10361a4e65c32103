from __future__ import annotations

from unified_state.model.step import KINDS, Boundary, Step


def test_the_positions_of_the_kinds_never_change() -> None:
    """The archive stores them."""
    assert KINDS == ("prompt", "text", "thinking", "tool_call", "tool_result", "tool_file", "attachment", "notice")


def test_a_step_belongs_to_the_session_itself_and_opens_no_turn_unless_it_says_so() -> None:
    step = Step(uuid="u", block=0, kind="text", at=0, text="hello")
    assert (step.agent, step.starts_turn, step.is_error, step.tool) == (None, False, False, None)


def test_a_boundary_may_say_nothing_of_its_reason() -> None:
    assert Boundary(uuid="u", at=0).trigger is None
