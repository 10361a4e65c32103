from __future__ import annotations

from unified_state.lib.stdlib import dump_json
from unified_state.model.step import NOTICE, PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, Step
from unified_state.restore.rules.story_lines import outline


def step(kind: str, text: str = "", *, tool: str | None = None, is_error: bool = False) -> Step:
    return Step(uuid="u", block=0, kind=kind, at=5, text=text, tool=tool, is_error=is_error)


def tool_call(tool: str, **fields: object) -> Step:
    return step(TOOL_CALL, dump_json(fields), tool=tool)


def test_a_turn_is_its_prompt_its_actions_and_its_last_answer() -> None:
    steps = [
        step(PROMPT, "fix it"),
        step(THINKING, "hm"),
        step(TEXT, "I look"),
        tool_call("Read", file_path="a.py"),
        step(TOOL_RESULT, "no such file", is_error=True),
        tool_call("Bash", command="make", description="build"),
        step(TOOL_RESULT, "ok"),
        step(TEXT, "done"),
        step(TEXT, "  "),
    ]
    turn = outline(41, 5, steps)
    assert turn.as_dict() == {
        "number": 41,
        "at": 5,
        "prompt": "fix it",
        "actions": ("Read a.py", "Bash make"),
        "tool_calls": 2,
        "errors": 1,
        "answer": "done",
    }


def test_several_prompts_of_a_turn_are_all_told() -> None:
    assert outline(1, 5, [step(PROMPT, "first"), step(TEXT, "…"), step(PROMPT, "second")]).prompt == "first\nsecond"


def test_a_turn_without_a_prompt_is_told_by_what_opened_it() -> None:
    assert outline(1, 5, [step(NOTICE, "<task-notification>"), step(TEXT, "fine")]).prompt == "<task-notification>"


def test_a_turn_without_steps_is_empty() -> None:
    assert outline(1, 5, []).prompt == ""


def test_the_same_action_is_told_once_with_its_number() -> None:
    steps = [tool_call("Bash", command="make"), tool_call("Read", file_path="a"), tool_call("Bash", command="make")]
    assert outline(1, 5, steps).actions == ("Read a", "Bash make (2 times)")


def test_of_many_actions_the_last_eight_are_told() -> None:
    steps = [tool_call("Read", file_path=f"{number}.py") for number in range(20)]
    turn = outline(1, 5, steps)
    assert turn.actions == tuple(f"Read {number}.py" for number in range(12, 20))
    assert turn.tool_calls == 20


def test_an_action_without_a_telling_field_is_told_by_its_tool() -> None:
    steps = [tool_call("TodoWrite", todos=[1]), step(TOOL_CALL, "[1]", tool="Odd"), step(TOOL_CALL, "{", tool="Broken")]
    assert outline(1, 5, steps).actions == ("TodoWrite", "Odd", "Broken")


def test_a_long_command_is_cut_and_on_one_line() -> None:
    (action,) = outline(1, 5, [tool_call("Bash", command="a\nb " + "x" * 500)]).actions
    assert action.startswith("Bash a b xxx")
    assert len(action) < 100


def test_long_texts_are_cut() -> None:
    turn = outline(1, 5, [step(PROMPT, "p" * 10_000), step(TEXT, "a" * 10_000)])
    assert (len(turn.prompt), len(turn.answer)) == (2000, 2000)
