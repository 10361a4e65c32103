from __future__ import annotations

import pytest

from unified_state.lib.json_text import dump_json
from unified_state.model.known import RecentWork, Run, Statement
from unified_state.model.step import TEXT, TOOL_CALL, TOOL_RESULT, Step
from unified_state.restore.rules.recent_work import recent_work

ROOT = "/home/ada/proj"


Done = tuple[str, dict[str, object], str, bool]


def steps(*done: Done | str) -> list[tuple[int, Step]]:
    """A call with its result for each tuple, and a text for each string, all of turn 7."""
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
    return [(7, step) for step in found]


def bash(command: str, output: str = "", *, failed: bool = False) -> Done:
    return "Bash", {"command": command}, output, failed


def edit(path: str, old: str = "a", new: str = "b") -> Done:
    return "Edit", {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}, "updated", False


def recent(*done: Done | str) -> RecentWork:
    return recent_work(steps(*done), ROOT)


def one_run(command: str, output: str) -> Run:
    (run,) = recent(bash(command, output)).runs
    return run


def test_texts_and_edits_have_the_number_of_calls_that_followed_the_newest_first() -> None:
    found = recent("first", edit("a.py"), "second", edit("b.py"), edit("a.py"))
    assert found.texts == (Statement(turn=7, at=2, text="second", age=2), Statement(turn=7, at=0, text="first", age=3))
    assert found.edits == (("a.py", 0), ("b.py", 1))


def test_a_command_is_known_by_its_last_run() -> None:
    found = recent(
        bash("make test", "1 failed", failed=True), edit("a.py"), bash("make test 2>&1", "3 passed\nexit status 0")
    )
    (run,) = found.runs
    assert (run.failed, run.last, run.checks) == (False, "3 passed", True)


@pytest.mark.parametrize(
    ("output", "last"),
    [
        ("could not open a TTY\nexit status 1", "could not open a TTY"),
        ("all fine\n</persisted-output>", "all fine"),
        ("all fine\nShell cwd was reset to /home/ada/notes", "all fine"),
        ("", ""),
        ("10%\r50%\rdone", "done"),
        ("3 passed\r\n", "3 passed"),
        ('{\n  "port": 8443\n}', '"port": 8443'),
    ],
)
def test_the_last_line_that_says_anything_is_the_outcome(output: str, last: str) -> None:
    assert one_run("go run .", output).last == last


def test_a_check_whose_last_line_says_fail_has_failed() -> None:
    assert one_run("go test ./... | tail -1", "FAIL").failed
    assert not one_run("go test ./... | tail -1", "ok shop 0.2s").failed


def test_a_search_without_a_match_has_not_failed() -> None:
    (found,) = recent(bash("grep -n limiter src/a.py", "Exit code 1", failed=True)).runs
    assert (found.failed, found.last) == (False, "")


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


@pytest.mark.parametrize("go", ["cd /tmp/trial && git", "git -C /tmp/trial"])
def test_a_commit_in_another_repository_is_none_of_this_one(go: str) -> None:
    output = "[main 1a2b3c4] One\n 1 file changed"
    assert recent(bash(f"{go} commit -m one", output)).commits == ()
    assert recent(bash(f"cd {ROOT}/src && git commit -m one", output)).commits == (("1a2b3c4 One", 0),)


def test_a_command_without_a_result_is_told_if_nothing_came_after_it() -> None:
    waiting = Step("99", 0, TOOL_CALL, 99, dump_json({"command": "make bench"}), "Bash", tool_use_id="toolu_99")
    assert recent_work([*steps(bash("make")), (7, waiting)], ROOT).without_result == ("make bench",)
    assert recent_work([(6, waiting), *steps(bash("make"))], ROOT).without_result == ()


STARTED = "Command running in background with ID: b1. Output is being written to: /tmp/b1.output"
WAITED = (
    "<retrieval_status>success</retrieval_status>\n\n<task_id>b1</task_id>\n\n<task_type>local_bash</task_type>\n\n"
)


def waited(tool: str, field: str, output: str) -> Done:
    return tool, {field: "b1"}, output, False


@pytest.mark.parametrize(
    ("end", "last", "failed"),
    [
        (
            f"{WAITED}<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<output>\n8 passed\n</output>",
            "8 passed",
            False,
        ),
        (
            f"{WAITED}<status>completed</status>\n\n<exit_code>10</exit_code>\n\n<output>\nno port\n</output>",
            "no port",
            True,
        ),
        (f"{WAITED}<status>killed</status>\n\n<output>\nhalf of it\n</output>", "half of it", True),
        (f"{WAITED}<status>completed</status>\n\n<exit_code>0</exit_code>", "", False),
    ],
)
def test_a_command_in_the_background_ends_as_task_output_says(end: str, last: str, *, failed: bool) -> None:
    (run,) = recent(bash("make bench", STARTED), "Meanwhile.", waited("TaskOutput", "task_id", end)).runs
    assert (run.command, run.last, run.failed, run.goes_on) == ("make bench", last, failed, False)


def test_of_two_looks_at_a_command_in_the_background_the_later_counts() -> None:
    running = WAITED.replace("success", "timeout") + "<status>running</status>\n\n<output>\n50%\n</output>"
    ended = f"{WAITED}<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<output>\n8 passed\n</output>"
    looks = [waited("TaskOutput", "task_id", text) for text in (running, ended)]
    (run,) = recent(bash("make bench", STARTED), *looks).runs
    assert (run.last, run.goes_on) == ("8 passed", False)
    (run,) = recent(bash("make bench", STARTED), looks[0]).runs
    assert (run.last, run.goes_on) == ("", True)


@pytest.mark.parametrize(
    ("status", "last", "failed", "goes_on"),
    [
        ("<status>running</status>\n\n<stdout>\n50%\n</stdout>", "", False, True),
        (
            "<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<stdout>\n8 passed\n</stdout>",
            "8 passed",
            False,
            False,
        ),
        ("<status>failed</status>\n\n<exit_code>1</exit_code>\n\n<stdout>\nno port\n</stdout>", "no port", True, False),
    ],
)
def test_it_ends_as_bash_output_says(status: str, last: str, *, failed: bool, goes_on: bool) -> None:
    (run,) = recent(bash("make bench", STARTED), waited("BashOutput", "bash_id", status)).runs
    assert (run.command, run.last, run.failed, run.goes_on) == ("make bench", last, failed, goes_on)


def test_it_ends_as_write_stdin_says() -> None:
    started: Done = ("exec_command", {"command": "make bench"}, "Process running with session ID 12\n", False)
    (run,) = recent(started, ("write_stdin", {"session_id": 12, "chars": ""}, "8 passed\n", False)).runs
    assert (run.command, run.last, run.goes_on) == ("make bench", "8 passed", False)


def test_a_command_in_the_background_without_an_end_goes_on() -> None:
    (run,) = recent(bash("make bench", STARTED), edit("a.py")).runs
    assert (run.last, run.goes_on) == ("", True)


def test_a_command_in_the_background_ends_as_its_notification_says() -> None:
    failed = Step("9", 1000, TOOL_RESULT, 9, "Background command failed", tool_use_id="toolu_0", is_error=True)
    (run,) = recent_work([*steps(bash("make", STARTED)), (8, failed)], ROOT).runs
    assert (run.failed, run.goes_on, run.last) == (True, False, "Background command failed")


def test_what_a_subagent_reported_is_a_statement_when_it_has_ended() -> None:
    launched = "Async agent launched successfully.\nagentId: a1 (internal ID)"
    asked: dict[str, object] = {"description": "look", "prompt": "Look at the proxy"}
    found = recent(
        ("Task", asked, "The port is 8443.\nagentId: a1 (for resuming)", False), ("Agent", asked, launched, False)
    )
    report = Statement(turn=7, at=0, text="The port is 8443.", age=1, is_report=True)
    assert found.texts == (report,)
    ended = Step("9", 1000, TOOL_RESULT, 9, "The port is 9443.", tool_use_id="toolu_1")
    later = recent_work([*steps(("Task", asked, "", False), ("Agent", asked, launched, False)), (8, ended)], ROOT)
    assert later.texts[0] == Statement(turn=7, at=9, text="The port is 9443.", is_report=True)
    assert recent(("Task", asked, "Cancelled", True)).texts == ()
