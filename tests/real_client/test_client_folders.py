"""What the product relies on when a session's shell goes elsewhere, and when the session itself moves."""

from __future__ import annotations

import pytest

from .conversation import Conversation
from .messages import Json, bash, reply, tool
from .scenario import ALLOW_BASH, Scenario
from .terminal import Terminal
from .transcript import tool_results

EVENTS = ("UserPromptSubmit", "PostToolUse", "Stop")


def commit_something(scenario: Scenario) -> None:
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@example.invalid")
    scenario.run_program("git", *who, "commit", "--quiet", "--allow-empty", "--message", "first commit")


def relocated(entries: list[Json]) -> list[str]:
    """The folders to which the client says that the session was moved."""
    return [entry["relocatedCwd"] for entry in entries if entry["type"] == "relocated"]


def test_the_shell_moves_neither_the_project_nor_the_transcript_and_a_command_is_told_the_session_alone(
    scenario: Scenario,
) -> None:
    other = scenario.folder / "other"
    other.mkdir()
    scenario.hooks.record(*EVENTS)
    show = bash('echo "${CLAUDE_PROJECT_DIR-none} $CLAUDE_CODE_SESSION_ID"')
    scenario.script(reply(bash(f"cd {other}")), reply(show), "done")
    with Conversation(scenario, *ALLOW_BASH, "--add-dir", str(other)) as client:
        client.ask("first")
        client.ask("second")
    calls = scenario.hooks.calls()
    assert {call.event["cwd"] for call in calls} == {str(scenario.project), str(other)}
    assert {call.environment["CLAUDE_PROJECT_DIR"] for call in calls} == {str(scenario.project)}
    assert {call.event["transcript_path"] for call in calls} == {str(scenario.transcript_path(client.session_id))}
    entries = scenario.transcript(client.session_id)
    assert tool_results(entries)[show["id"]]["content"] == f"none {client.session_id}"
    assert relocated(entries) == []


def test_a_session_that_enters_a_worktree_takes_its_transcript_along_and_says_so(scenario: Scenario) -> None:
    commit_something(scenario)
    scenario.hooks.record(*EVENTS)
    enter = {**tool("EnterWorktree"), "input": {"name": "w"}}
    scenario.script(reply(enter), "in it", reply(tool("ExitWorktree", action="keep")), "back")
    with Conversation(scenario, "--allowedTools", "EnterWorktree,ExitWorktree") as client:
        told = []
        for prompt in ("first", "second"):
            client.ask(prompt)
            call = scenario.hooks.calls("Stop")[-1]
            assert call.environment["CLAUDE_PROJECT_DIR"] == str(scenario.project)
            told.append((call.event["cwd"], call.event["transcript_path"], relocated(call.entries_on_disk())[-1]))
    worktree = scenario.project / ".claude" / "worktrees" / "w"
    (inside, one, first), (outside, other, second) = told
    assert (inside, outside) == (first, second) == (str(worktree), str(scenario.project))
    assert one != other


@pytest.mark.usefixtures("tmux")
def test_a_session_that_the_user_moves_takes_its_transcript_along_and_says_so(scenario: Scenario) -> None:
    other = scenario.folder / "other"
    other.mkdir()
    scenario.hooks.record(*EVENTS)
    scenario.script("answer one", "answer two")
    with Terminal(scenario) as terminal:
        terminal.enter("hello")
        terminal.wait_for("answer one")
        move_to(terminal, str(other))
        terminal.enter("goodbye")
        terminal.wait_for("answer two")
        terminal.leave()
    first, *_, last = scenario.hooks.calls()
    assert last.event["session_id"] == first.event["session_id"]
    assert last.event["cwd"] == str(other)
    assert last.environment["CLAUDE_PROJECT_DIR"] == str(scenario.project)
    assert first.event["transcript_path"] != last.event["transcript_path"]
    assert relocated(last.entries_on_disk())[-1] == str(other)


def move_to(terminal: Terminal, folder: str) -> None:
    """Type /cd, and trust the folder."""
    terminal.enter(f"/cd {folder}")
    terminal.answer(r"\S No, stay put", "Down")
    terminal.answer(r"\S Yes, move here", "Enter")
    terminal.wait_for("Moved to")
