"""Outputs that are archived before their entries come."""

from __future__ import annotations

from tests.builders import NOW, uuid_of
from tests.indexed import check_index, steps_having
from unified_state.archive.archive import Archive
from unified_state.archive.cut_outputs import (
    Output,
    Savings,
    archive_output,
    note_recall,
    note_shortened,
    read_savings,
    was_shortened,
    whole_of,
)
from unified_state.archive.sessions import touch_session
from unified_state.archive.steps import find_step, step_numbers, steps_of_turn
from unified_state.archive.text_columns import forget_step
from unified_state.archive.write_steps import StepWriter, awaited_outputs
from unified_state.lib.text import pack
from unified_state.model.step import PROMPT, TOOL_CALL, TOOL_RESULT, Step

WHOLE = "line of it\n" * 300
OUTPUT = Output(tool_use_id="t1", agent=None, at=NOW, text=WHOLE, digest=7)


def kept(archive: Archive, output: Output = OUTPUT) -> tuple[int, int, str]:
    """A session, the step of an output in it, and the short form that the model was given."""
    session = touch_session(archive, "s", NOW)
    number = archive_output(archive, session, "s", output)
    shown = f"[S{number}: 300 lines, shown 1; recall S{number}]\nline of it"
    note_shortened(archive, session, number, output, level=2, shown=len(shown))
    return session, number, shown


def entry(number: int, kind: str, text: str) -> Step:
    return Step(
        uuid=uuid_of(number),
        block=0,
        kind=kind,
        at=NOW + number,
        text=text,
        tool="Bash" if kind == TOOL_CALL else None,
        tool_use_id=None if kind == PROMPT else "t1",
        starts_turn=kind == PROMPT,
    )


def write(archive: Archive, session: int, shown: str) -> StepWriter:
    """Archive the transcript of the turn."""
    writer = StepWriter(archive, session, None)
    for step in (entry(1, PROMPT, "go"), entry(2, TOOL_CALL, "{}"), entry(3, TOOL_RESULT, shown)):
        writer.add(step, pack(step.text))
    return writer


def test_the_same_output_is_archived_once(archive: Archive) -> None:
    assert kept(archive) == kept(archive)
    assert archive.row("SELECT count(*) FROM step") == (1,)


def test_it_takes_the_place_of_its_entry(archive: Archive) -> None:
    session, number, shown = kept(archive)
    writer = write(archive, session, shown)
    steps = steps_of_turn(archive, writer.turn or 0)
    assert [(step.kind, step.text) for _, step in steps] == [(PROMPT, "go"), (TOOL_CALL, "{}"), (TOOL_RESULT, WHOLE)]
    assert steps[-1][0] == number == step_numbers(archive, session)[-1]
    assert (steps[-1][1].uuid, steps[-1][1].at) == (uuid_of(3), NOW + 3)
    assert find_step(archive, writer.last) == entry(3, TOOL_RESULT, WHOLE)
    assert (writer.added, awaited_outputs(archive, session)) == (3, {})
    assert archive.row("SELECT count(*) FROM turn") == (1,)


def test_a_fork_holds_the_whole_too(archive: Archive) -> None:
    session, number, shown = kept(archive)
    write(archive, session, shown)
    fork = touch_session(archive, "fork", NOW)
    writer = write(archive, fork, shown)
    assert find_step(archive, writer.last) == entry(3, TOOL_RESULT, WHOLE)
    assert step_numbers(archive, fork)[-1] == number


def test_the_words_of_the_whole_are_in_the_index_once(archive: Archive) -> None:
    session, number, shown = kept(archive)
    write(archive, session, f"{shown}\nquixotic")
    check_index(archive)
    assert steps_having(archive, "quixotic") == [number]
    forget_step(archive, number)
    assert steps_having(archive, "line OR quixotic") == []


def test_one_that_was_forgotten_stays_so_when_its_entry_comes(archive: Archive) -> None:
    session, number, shown = kept(archive)
    forget_step(archive, number)
    assert write(archive, session, shown).added == 2
    assert find_step(archive, number) is None
    assert write(archive, session, shown).added == 0


def test_an_entry_about_something_else_is_kept_beside_it(archive: Archive) -> None:
    session, number, _ = kept(archive)
    write(archive, session, "another")
    texts = [step.text for other in step_numbers(archive, session) if (step := find_step(archive, other))]
    assert sorted(texts) == sorted(["go", "{}", WHOLE, "another"])
    assert [step for step, _ in awaited_outputs(archive, session).values()] == [number]


def test_savings_are_of_one_session_or_of_all(archive: Archive) -> None:
    session, number, shown = kept(archive)
    note_recall(archive, number, 330)
    note_recall(archive, 99, 330)
    saved = round((len(WHOLE) - len(shown)) / 3.3)
    assert read_savings(archive) == read_savings(archive, session) == Savings(1, saved, 1, 100)
    assert read_savings(archive, session + 1) == Savings()
    assert was_shortened(archive, session, 7)
    assert not was_shortened(archive, session, 8)
    assert not was_shortened(archive, session + 1, 7)


SHORT = "[S7: 9 lines, shown 1; recall S7]\nline 1"


def test_of_a_short_form_the_whole() -> None:
    assert whole_of(SHORT, "line 1\nline 2\n", "S7", len(SHORT)) == "line 1\nline 2\n"


def test_what_the_client_says_beside_it_stands_behind_so_that_lines_keep_their_numbers() -> None:
    seen = f"Found 2 files\n{SHORT}\n\nShell cwd was reset"
    assert whole_of(seen, "a\nb", "S7", len(SHORT)) == "a\nb\n\nShell cwd was reset\n\nFound 2 files"


def test_without_a_handle_what_the_model_read_if_it_holds_the_whole() -> None:
    assert whole_of("a\nb\nmore", "a\nb\n", "S7", 9) == "a\nb\nmore"


def test_another_text_or_another_handle_is_none_of_it() -> None:
    assert whole_of("another", "a\nb", "S7", 9) is None
    assert whole_of("[S77: 9 lines, shown 1]\nx", "a\nb", "S7", 9) is None
