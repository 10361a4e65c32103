from __future__ import annotations

import pytest

from unified_state.lib.stdlib import dump_json
from unified_state.model.known import Recent, Run
from unified_state.model.step import TEXT, TOOL_CALL, TOOL_RESULT, Step
from unified_state.restore.rules.recent_work import recent_work, uncommitted

ROOT = "/home/ada/proj"


Done = tuple[str, dict[str, object], str, bool]


def steps(*done: Done | str) -> list[Step]:
    """A call with its result for each tuple, and a text for each string."""
    found: list[Step] = []
    for number, one in enumerate(done):
        if isinstance(one, str):
            found.append(Step(uuid=str(number), block=0, kind=TEXT, at=number, text=one))
            continue
        tool, fields, output, is_error = one
        name = f"toolu_{number}"
        found += [
            Step(str(number), 0, TOOL_CALL, number, dump_json(fields), tool, tool_use_id=name),
            Step(str(number), 1, TOOL_RESULT, number, output, tool_use_id=name, is_error=is_error),
        ]
    return found


def bash(command: str, output: str = "", *, failed: bool = False) -> Done:
    return "Bash", {"command": command}, output, failed


def edit(path: str, old: str = "a", new: str = "b") -> Done:
    return "Edit", {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}, "updated", False


def recent(*done: Done | str) -> Recent:
    return recent_work(steps(*done), ROOT)


def one_run(command: str, output: str) -> Run:
    (run,) = recent(bash(command, output)).runs
    return run


def test_texts_and_edits_have_the_number_of_calls_that_followed_the_newest_first() -> None:
    found = recent("first", edit("a.py"), "second", edit("b.py"), edit("a.py"))
    assert found.texts == (("second", 2), ("first", 3))
    assert found.edits == (("a.py", 0), ("b.py", 1))


def test_a_command_is_known_by_its_last_run() -> None:
    found = recent(
        bash("make test", "1 failed", failed=True), edit("a.py"), bash("make test 2>&1", "3 passed\nexit status 0")
    )
    (run,) = found.runs
    assert (run.failed, run.last, run.times, run.checks) == (False, "3 passed", 2, True)


@pytest.mark.parametrize(
    ("output", "last"),
    [
        ("could not open a TTY\nexit status 1", "could not open a TTY"),
        ("all fine\n</persisted-output>", "all fine"),
        ("", ""),
        ("10%\r50%\rdone", "done"),
    ],
)
def test_the_last_line_that_says_anything_is_the_outcome(output: str, last: str) -> None:
    assert one_run("go run .", output).last == last


def test_a_command_that_only_shows_content_is_known_as_such() -> None:
    assert one_run("git show abc | head", "one\ntwo").shows
    assert not one_run("make test | head", "one").shows


@pytest.mark.parametrize(
    "call",
    [
        bash("rm -rf x", "The user doesn't want to proceed with this tool use. STOP", failed=True),
        bash("make", "<tool_use_error>Sibling tool call errored", failed=True),
        bash("unified-state show D1", "D1"),
        bash("cd /x && /opt/bin/unified-state search words", "T1"),
    ],
)
def test_what_was_refused_or_did_not_run_or_is_our_own_is_no_run(call: Done) -> None:
    assert recent(call).runs == ()


def test_commits_and_the_last_push_are_known() -> None:
    commit = bash("git commit -m one", "[main 1a2b3c4] One\n 1 file changed")
    found = recent(commit, bash("git push", "main -> main"), bash("git commit -m two", "[main 2b3c4d5] Two"))
    assert found.commits == (("2b3c4d5 Two", 0), ("1a2b3c4 One", 2))
    assert found.pushed == 1


def test_a_definition_that_an_edit_removed_is_gone() -> None:
    found = recent(edit("a.go", "func isTrivialLine(line string) bool {", "// nothing"))
    assert found.gone == (("isTrivialLine", 0),)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def parse_all():", "def parse_all(limit):"),  # still there
        ("x = parse_all()", "x = 1"),  # called there, not defined
    ],
)
def test_a_name_that_an_edit_left_or_only_used_is_not_gone(before: str, after: str) -> None:
    assert recent(edit("a.py", before, after)).gone == ()


def test_a_definition_that_came_back_is_not_gone() -> None:
    moved = edit("b.py", "pass", "def parse_all(): pass")
    assert recent(edit("a.py", "def parse_all(): pass", ""), moved).gone == ()


def test_a_method_of_go_is_found_behind_its_receiver() -> None:
    assert recent(edit("a.go", "func (s *Store) SaveState() {", "")).gone == (("SaveState", 0),)


@pytest.mark.parametrize("command", ["rm -f docs/old.md", "git rm docs/old.md", "mv docs/old.md docs/new.md"])
def test_a_file_that_was_removed_or_moved_is_gone(command: str) -> None:
    assert recent(edit("docs/old.md"), bash(command)).gone == (("docs/old.md", 0),)


def test_a_file_that_was_written_again_is_not_gone() -> None:
    write: Done = ("Write", {"file_path": f"{ROOT}/docs/old.md", "content": "x"}, "created", False)
    assert recent(bash("rm docs/old.md"), write).gone == ()


def test_a_file_that_could_not_be_removed_is_not_gone() -> None:
    assert recent(bash("rm docs/old.md", "rm: cannot remove: Permission denied", failed=True)).gone == ()


def test_uncommitted_files_are_those_edited_after_the_last_commit() -> None:
    commit = bash("git commit -m one", "[main 1a2b3c4] One")
    failed = bash("git commit -m two", "nothing to commit", failed=True)
    found = uncommitted(steps("first", edit("a.py"), commit, "then", edit("b.py"), failed), ROOT)
    assert found == Recent(texts=(("then", 0), ("first", 0)), edits=(("b.py", 1),))
    assert uncommitted(steps(edit("a.py"), failed), ROOT).edits == (("a.py", 1),)
