from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from sqlite3 import IntegrityError
from typing import Any

import pytest

from tests.builders import (
    NOW,
    SESSION,
    answer,
    append,
    boundary,
    call,
    entry,
    lines,
    prompt,
    result,
    summary,
    uuid_of,
    write_transcript,
)
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Restore, keep_restore, latest_compaction, restores_of
from unified_state.archive.export_steps import export_steps
from unified_state.archive.sessions import read_cursor, session_number, touch_session
from unified_state.capture.capture_transcript import CHUNK_BYTES, Capture
from unified_state.lib.fence import fenced
from unified_state.model.hook_event import Moment
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_FILE, TOOL_RESULT
from unified_state.secrets.masker import Masker
from unified_state.secrets.rules.mask import HIDDEN

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LARGE = "x" * (CHUNK_BYTES // 3)
DIALOGUE = (
    prompt(1, "fix it"),
    answer(2, "I look", call("toolu_1", "Bash", command="make")),
    result(3, "toolu_1", "no rule", is_error=True),
    answer(4, "done"),
)

Run = Callable[..., Capture]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return write_transcript(tmp_path / "projects" / f"{SESSION}.jsonl", *DIALOGUE)


@pytest.fixture
def run(archive: Archive, masker: Masker) -> Run:
    """A capture; with `moments` it has time for so many questions whether there is more."""

    def begin(moments: int | None = None) -> Capture:
        asked = iter(range(moments)) if moments is not None else None
        return Capture(archive, masker, Moment(NOW, has_time=lambda: asked is None or next(asked, None) is not None))

    return begin


def told(archive: Archive, session: str = SESSION) -> list[tuple[str, str]]:
    """Kind and content of each step of a session, as `export` gives them."""
    return [
        (line["kind"], next(line[name] for name in ("text", "result", "input") if name in line))
        for line in export_steps(archive, session)
    ]


ALL = [
    (PROMPT, "fix it"),
    (TEXT, "I look"),
    (TOOL_CALL, {"command": "make"}),
    (TOOL_RESULT, "no rule"),
    (TEXT, "done"),
]


def test_everything_that_a_transcript_holds_is_archived(archive: Archive, run: Run, transcript: Path) -> None:
    capture = run()
    assert (capture.session(str(transcript), SESSION), capture.complete) == (5, True)
    assert told(archive) == ALL


def test_the_second_time_only_what_is_new_is_read(archive: Archive, run: Run, transcript: Path) -> None:
    run().session(str(transcript), SESSION)
    assert run().session(str(transcript), SESSION) == 0
    append(transcript, prompt(5, "and this"))
    assert run().session(str(transcript), SESSION) == 1
    assert told(archive) == [*ALL, (PROMPT, "and this")]


def test_the_offset_stands_behind_the_last_whole_line(archive: Archive, run: Run, transcript: Path) -> None:
    whole = transcript.stat().st_size
    with transcript.open("ab") as file:
        file.write(lines([prompt(5, "and this")])[:-30])
    run().session(str(transcript), SESSION)
    cursor = read_cursor(archive, str(transcript))
    assert cursor is not None
    assert cursor.offset == whole
    with transcript.open("ab") as file:
        file.write(lines([prompt(5, "and this")])[-30:])
    run().session(str(transcript), SESSION)
    assert told(archive)[-1] == (PROMPT, "and this")


def test_lines_that_are_no_entries_are_passed_over(archive: Archive, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    odd: list[Any] = [{"type": "progress"}, {"type": []}, {"type": {}, "uuid": "u"}]
    path.write_bytes(b"garbage\n\n\xff\xfe\n[1]\n" + lines(odd) + lines(DIALOGUE))
    run().session(str(path), SESSION)
    assert told(archive) == ALL


def test_a_transcript_that_was_written_anew_is_read_from_its_beginning(
    archive: Archive, run: Run, transcript: Path
) -> None:
    run().session(str(transcript), SESSION)
    replacement = write_transcript(transcript.with_suffix(".new"), *DIALOGUE, prompt(5, "and this"))
    os.replace(replacement, transcript)
    assert run().session(str(transcript), SESSION) == 1
    assert told(archive) == [*ALL, (PROMPT, "and this")]


@pytest.mark.usefixtures("alarm")
def test_a_transcript_that_shrank_is_read_from_its_beginning(archive: Archive, run: Run, transcript: Path) -> None:
    run().session(str(transcript), SESSION)
    transcript.write_bytes(lines([prompt(9, "anew")]))
    assert run().session(str(transcript), SESSION) == 1
    assert told(archive)[-1] == (PROMPT, "anew")


def large(path: Path, count: int = 9) -> Path:
    """A transcript of several chunks."""
    return write_transcript(path, *(prompt(number, f"{number} {LARGE}") for number in range(1, count + 1)))


def test_without_time_one_chunk_is_done_and_the_rest_follows(archive: Archive, run: Run, transcript: Path) -> None:
    large(transcript)
    capture = run(0)
    assert (capture.session(str(transcript), SESSION), capture.complete) == (3, False)
    while not capture.complete:
        capture = run(0)
        capture.session(str(transcript), SESSION)
    assert [kind for kind, _ in told(archive)] == [PROMPT] * 9


def test_without_time_a_fork_of_a_large_session_does_not_hold_the_hook_up(
    archive: Archive, run: Run, transcript: Path
) -> None:
    """All of it is known already, so nothing is added; it takes its time all the same."""
    large(transcript)
    run().session(str(transcript), SESSION)
    fork = shutil.copy(transcript, transcript.with_name("fork.jsonl"))
    capture = run(0)
    assert (capture.transcript(str(fork), "fork"), capture.complete) == (0, False)
    cursor = read_cursor(archive, str(fork))
    assert cursor is not None
    assert 0 < cursor.offset < transcript.stat().st_size


def test_a_chunk_that_another_process_stored_meanwhile_is_not_stored_again(
    archive: Archive, masker: Masker, transcript: Path
) -> None:
    def other_hook() -> bool:
        with Archive(archive.path) as other:
            Capture(other, masker, Moment(NOW)).transcript(str(transcript), SESSION)
        return True

    large(transcript)
    capture = Capture(archive, masker, Moment(NOW, has_time=other_hook))
    assert capture.transcript(str(transcript), SESSION) == 3
    assert [content[:1] for _, content in told(archive)] == list("123456789")


def test_the_beginning_of_a_large_transcript_survives_a_killed_hook(
    archive: Archive, masker: Masker, transcript: Path
) -> None:
    def killed() -> bool:
        raise KeyboardInterrupt

    large(transcript)
    with pytest.raises(KeyboardInterrupt):
        Capture(archive, masker, Moment(NOW, has_time=killed)).transcript(str(transcript), SESSION)
    cursor = read_cursor(archive, str(transcript))
    assert cursor is not None
    assert cursor.offset > CHUNK_BYTES
    assert len(told(archive)) == 3


def test_steps_that_cannot_be_stored_are_read_again(transcript: Path, archive: Archive, run: Run) -> None:
    full = "CREATE TEMP TRIGGER full BEFORE INSERT ON main.step WHEN new.id > 2 BEGIN SELECT raise(ABORT, 'full'); END"
    archive.run(full)
    with pytest.raises(IntegrityError):
        run().session(str(transcript), SESSION)
    archive.run("DROP TRIGGER full")
    assert run().session(str(transcript), SESSION) == 5


def test_a_fork_has_the_shared_part_and_it_is_stored_once(archive: Archive, run: Run, transcript: Path) -> None:
    copied = [{**value, "sessionId": "fork"} for value in DIALOGUE]
    copied[1]["requestSessionId"] = SESSION
    fork = write_transcript(transcript.with_name("fork.jsonl"), *copied, prompt(9, "elsewhere", session="fork"))
    run().session(str(transcript), SESSION)
    run().session(str(fork), "fork")
    assert told(archive) == ALL
    assert told(archive, "fork") == [*ALL, (PROMPT, "elsewhere")]
    assert archive.row("SELECT count(*) FROM step")[0] == 6
    assert archive.row("SELECT predecessor FROM session WHERE session_id = 'fork'")[0] == SESSION


def test_an_entry_that_is_repeated_in_a_transcript_is_kept_once(archive: Archive, run: Run, transcript: Path) -> None:
    append(transcript, *DIALOGUE, {**DIALOGUE[0], "type": "api-request-blob"})
    run().session(str(transcript), SESSION)
    assert told(archive) == ALL


def test_subagents_are_archived_under_their_session(archive: Archive, run: Run, transcript: Path) -> None:
    agents = transcript.with_suffix("") / "subagents"
    sidechain = {"isSidechain": True, "agentId": "a1"}
    write_transcript(
        agents / "agent-a1.jsonl", prompt(20, "look there", **sidechain), {**answer(21, "found"), **sidechain}
    )
    (agents / "agent-a1.meta.json").write_text("{}")
    (agents / "notes.jsonl").write_bytes(lines([prompt(22, "not a subagent")]))
    assert run().session(str(transcript), SESSION) == 7
    by_agent = [(line.get("agent"), line["kind"]) for line in export_steps(archive, SESSION)][-2:]
    assert by_agent == [("a1", PROMPT), ("a1", TEXT)]


def test_long_results_that_lie_in_files_are_archived(archive: Archive, run: Run, transcript: Path) -> None:
    folder = transcript.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "toolu_1.txt").write_bytes(b"all of it\r\n\xff")
    (folder / "mcp-search.txt").write_text("found")
    (folder / "hook-1-additionalContext.txt").write_text("what a hook printed")
    (folder / "below").mkdir()
    for _ in range(2):
        run().session(str(transcript), SESSION)
    files = [line for line in export_steps(archive, SESSION) if line["kind"] == TOOL_FILE]
    assert [(line["result"], line["tool"]) for line in files] == [("found", None), ("all of it\r\n\ufffd", "Bash")]


def test_secrets_never_reach_the_archive(archive: Archive, run: Run, tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "s.jsonl",
        prompt(1, f"use {SECRET}"),
        answer(2, f"I use {SECRET}", call("toolu_1", "Bash", command=f"export GITHUB_TOKEN={SECRET}")),
        result(3, "toolu_1", f"set to {SECRET}"),
        boundary(4),
        summary(5, f"the token is {SECRET}"),
    )
    folder = path.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "toolu_1.txt").write_text(f"whole: {SECRET}")
    run().session(str(path), SESSION)
    compaction = latest_compaction(archive, 1)
    assert compaction is not None
    shown = str(told(archive)) + str(compaction.summary)
    assert SECRET not in shown
    assert shown.count("[MASKED github-token ") == 6
    assert SECRET.encode() not in Path(archive.path).read_bytes()


def test_what_is_private_in_a_prompt_is_not_kept(archive: Archive, run: Run, tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "s.jsonl", prompt(1, "use <private>my own</private> way"))
    run().session(str(path), SESSION)
    assert told(archive) == [(PROMPT, f"use {HIDDEN} way")]


def test_what_is_private_in_the_arguments_of_a_command_is_not_kept(archive: Archive, run: Run, tmp_path: Path) -> None:
    text = "<command-name>/review</command-name><command-args>use <private>my own</private> way</command-args>"
    run().session(str(write_transcript(tmp_path / "s.jsonl", prompt(1, text))), SESSION)
    assert "my own" not in str(told(archive))


def test_compactions_are_heard_of_from_the_transcript(archive: Archive, run: Run, transcript: Path) -> None:
    append(transcript, boundary(5), summary(6, "what was done"), prompt(7, "go on"))
    run().session(str(transcript), SESSION)
    found = latest_compaction(archive, 1)
    assert found is not None
    assert (found.boundary_uuid, found.summary) == (uuid_of(5), "what was done")
    assert told(archive) == [*ALL, (PROMPT, "go on")]


def test_a_text_of_ours_that_arrived_is_marked(archive: Archive, run: Run, transcript: Path) -> None:
    session = touch_session(archive, SESSION, NOW)
    keep_restore(archive, Restore("a1b2", session, 1, "brief", NOW, None, "facts"))
    attachment = {"type": "hook_additional_context", "content": [fenced("facts", "a1b2", "data")]}
    append(transcript, entry(5, "attachment", attachment=attachment))
    run().session(str(transcript), SESSION)
    assert restores_of(archive, 1)[0].delivered_at == NOW


def test_an_entry_that_the_archive_cannot_hold_does_not_stop_the_others(
    archive: Archive, run: Run, tmp_path: Path
) -> None:
    odd = boundary(1)
    odd["compactMetadata"]["preTokens"] = 10**30
    path = write_transcript(tmp_path / "s.jsonl", odd, prompt(2, "go on", uuid="half \ud83d"), prompt(3, "and on"))
    run().session(str(path), SESSION)
    assert told(archive) == [(PROMPT, "go on"), (PROMPT, "and on")]


def test_what_a_killed_client_left_is_caught_up_with(archive: Archive, run: Run, transcript: Path) -> None:
    run().session(str(transcript), SESSION)
    append(transcript, prompt(5, "and then it died"))
    capture = run()
    assert (capture.catch_up(), capture.complete) == (1, True)
    assert told(archive)[-1] == (PROMPT, "and then it died")


def test_the_subagents_of_a_killed_client_are_caught_up_with_once(archive: Archive, run: Run, transcript: Path) -> None:
    agent = transcript.with_suffix("") / "subagents" / "agent-a1.jsonl"
    write_transcript(agent, prompt(20, "look", isSidechain=True, agentId="a1"))
    run().session(str(transcript), SESSION)
    append(agent, answer(21, "found", isSidechain=True, agentId="a1"))
    assert run().catch_up() == 1


def test_without_time_nothing_is_caught_up_with(run: Run, transcript: Path) -> None:
    run().session(str(transcript), SESSION)
    append(transcript, prompt(5, "and then it died"))
    capture = run(0)
    assert (capture.catch_up(), capture.complete) == (0, False)


def test_transcripts_that_are_gone_are_passed_over(archive: Archive, run: Run, transcript: Path) -> None:
    run().session(str(transcript), SESSION)
    transcript.unlink()
    capture = run()
    assert (capture.catch_up(), capture.complete) == (0, True)
    assert session_number(archive, SESSION) == 1


def test_what_is_left_out_of_a_damaged_line_is_reported(archive: Archive, masker: Masker, tmp_path: Path) -> None:
    path, told = tmp_path / f"{SESSION}.jsonl", list[str]()
    path.write_bytes(lines([prompt(1, "one")])[:-1] + b'{"type":"user"\0\0\n' + lines([prompt(2, "two")]))
    assert Capture(archive, masker, Moment(NOW), report=told.append).session(str(path), SESSION) == 2
    (line,) = told
    assert line.endswith(": 14 characters of it are left out")
