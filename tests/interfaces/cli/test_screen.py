"""What a person sees on a terminal, and what a program gets from a pipe."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.builders import prompt, write_transcript
from tests.interfaces.cli.screen import on_screen, run

ESCAPE = "\033["
COLOURED = [(), ("status",), ("search", "bucket"), ("show", "T1"), ("preview",), ("search", "--help")]


def test_a_terminal_shows_colour_and_bold_and_a_pipe_the_same_text_plain(recorded: Path) -> None:
    for arguments in COLOURED:
        shown = on_screen(*arguments, cwd=recorded, rows=500, variables={"COLUMNS": "80"})
        assert ESCAPE in shown, arguments
        plain = run(*arguments, cwd=recorded, COLUMNS="80")
        assert ESCAPE not in plain.stdout, arguments
    for variable in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert ESCAPE not in on_screen("status", cwd=recorded, rows=500, variables=variable), variable


def test_an_agent_at_a_terminal_gets_plain_text(recorded: Path) -> None:
    assert ESCAPE not in on_screen("search", "bucket", cwd=recorded, variables={"CLAUDECODE": "1"})


def test_found_words_are_bold_on_a_terminal_and_marked_in_a_pipe(recorded: Path) -> None:
    assert f"Token {ESCAPE}1;33mbucket{ESCAPE}0m in Redis" in on_screen("search", "bucket", cwd=recorded)
    assert "Token **bucket** in Redis" in run("search", "bucket", cwd=recorded).stdout


def test_recorded_text_sets_no_colour_itself(recorded: Path) -> None:
    run("decision", "add", f"Red {ESCAPE}31mtext", "--rationale", "x", cwd=recorded)
    shown = on_screen("decision", "list", cwd=recorded, variables={"NO_COLOR": "1"})
    assert "Red" in shown
    assert ESCAPE not in shown


BAR = """
import sys, time
from unified_state.interfaces.cli.terminal import progress_bar
with progress_bar("archiving", 10) as advance:
    advance(3)
    time.sleep(0.6 if sys.argv[1] == "slow" else 0)
    advance(5)
print("done")
"""


def bar(folder: Path, work: str, *, terminal: bool, monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    """What is shown of quick or slow work."""
    monkeypatch.setattr("tests.interfaces.cli.screen.PROGRAM", (sys.executable, "-c", BAR))
    if terminal:
        return on_screen(work, cwd=folder, variables=variables)
    done = run(work, cwd=folder, **variables)
    return done.stdout + done.stderr


def test_work_that_takes_longer_than_a_moment_shows_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = bar(tmp_path, "slow", terminal=True, monkeypatch=monkeypatch)
    assert "archiving: 80 %" in shown
    assert shown.endswith("\rdone\n")


@pytest.mark.parametrize(
    ("work", "terminal", "variables"),
    [("quick", True, {}), ("slow", False, {}), ("slow", True, {"CLAUDECODE": "1"})],
)
def test_quick_work_a_pipe_and_an_agent_get_no_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str, terminal: bool, variables: dict[str, str]
) -> None:
    assert bar(tmp_path, work, terminal=terminal, monkeypatch=monkeypatch, **variables) == "done\n"


READS = [
    *(("status",), ("search", "bucket"), ("search", "bucket", "--all-projects"), ("show", "D1"), ("show", "T1")),
    *(("show", "D1", "--source"), ("decision", "list"), ("constraint", "list"), ("inbox",), ("inbox", "list")),
    *(("context",), ("preview", "--startup"), ("compactions",), ("scan",), ("doctor",), ("config",), ("link",)),
    *(("age",), ("validate",), ("forget", "--older-than", "1d", "--dry-run")),
]


def test_all_that_reads_takes_json(recorded: Path) -> None:
    for arguments in READS:
        done = run(*arguments, "--json", cwd=recorded)
        assert is_json(done.stdout), arguments
        assert done.returncode in {0, 1}, arguments


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


NOTHING = [
    (("status",), {"recorded": False}),
    (("search", "x"), []),
    (("search", "x", "--all-projects"), []),
    (("decision", "list"), []),
    (("attempt", "list", "--all"), []),
    (("inbox",), []),
    (("context",), None),
    (("preview",), {"text": "", "tokens": 0, "parts": []}),
    (("preview", "--startup"), {"text": "", "tokens": 0, "parts": []}),
    (("compactions",), []),
    (("link",), []),
]


def test_nothing_there_is_exit_0_an_empty_result_and_one_line_on_stderr(empty: Path) -> None:
    for arguments, value in NOTHING:
        done = run(*arguments, "--json", cwd=empty)
        assert (done.returncode, json.loads(done.stdout), len(done.stderr.splitlines())) == (0, value, 1)
    for arguments in (*(arguments for arguments, _ in NOTHING), ("export",)):
        done = run(*arguments, cwd=empty)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (0, "", 1)


def test_no_hit_is_nothing_there_too(recorded: Path) -> None:
    done = run("search", "xyzzy", "--json", cwd=recorded)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "unified-state: no hits for 'xyzzy'\n")


def test_what_is_named_and_is_not_there_is_an_error(recorded: Path) -> None:
    for arguments in (("show", "D9"), ("show", "D9", "--source"), ("compactions", "K9"), ("forget", "D9")):
        assert run(*arguments, cwd=recorded).returncode == 1


def test_a_folder_of_projects_tells_where_each_session_went(recorded: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for number, place in enumerate((recorded, other)):
        path = tmp_path / "projects" / str(number) / f"s{number}.jsonl"
        write_transcript(path, prompt(10 + number, "hello", session=f"s{number}", cwd=str(place)))
    done = run("import", str(tmp_path / "projects"), cwd=recorded)
    assert done.stdout.splitlines() == [
        "2 transcripts, 2 new steps",
        f"  1 transcript, 1 new step in {recorded}",
        f"  1 transcript, 1 new step in {other}",
    ]
    (value,) = json.loads(run("import", str(tmp_path / "projects"), "--json", cwd=recorded).stdout)
    assert value["places"] == {str(place): {"files": 1, "added": 0} for place in (recorded, other)}


def test_a_source_is_told_for_a_person_and_whole_for_a_program(recorded: Path) -> None:
    told = run("show", "D1", "--source", cwd=recorded).stdout
    whole = json.loads(run("show", "D1", "--source", "--json", cwd=recorded).stdout)
    assert f"SHA-256 {whole['quote_hash'][:12]}…\n" in told
    assert whole["quote_hash"] not in told


def test_config_tells_the_files_and_shows_first_what_was_set(recorded: Path) -> None:
    lines = run("config", cwd=recorded, UNIFIED_STATE_RESTORE_TOKENS="1000").stdout.splitlines()
    assert lines[0].split()[:2] == ["restore_tokens", "1000"]
    assert any(line.startswith("your settings    ") and "config.toml (not there yet)" in line for line in lines)
    assert f"of this project  {recorded}/.claude/unified-state.toml (not there yet)" in lines
