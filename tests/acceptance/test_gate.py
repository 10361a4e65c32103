"""What may take a rule away: the user at a terminal, and nobody else, by whatever way it is tried."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.terminal import run_at_terminal

from .conftest import Prepared
from .mcp_client import McpClient
from .product import PROGRAM, Done, Project
from .test_enforced_constraints import FORCE_PUSH, call, decision

HIDDEN = ("env", "--unset", "CLAUDECODE", "--unset", "CLAUDE_CODE_SESSION_ID")
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}
# The ids of what `ruled` holds: C1 is enforced, C2 proposed by the state file, D1 a decision that would replace C1.
PATHS: dict[str, tuple[str, ...]] = {
    "lift": ("constraint", "lift", "C1"),
    "accept": ("inbox", "accept", "C2"),
    "drop": ("inbox", "reject", "C2"),
    "change of scope, mode and text": ("inbox", "accept", "C3"),
    "replacement by another kind": ("inbox", "accept", "D1"),
    "accept in the inbox": ("inbox", "accept", "C2"),
    "accept several": ("inbox", "accept", "C2", "D1"),
    "reject": ("inbox", "reject", "C2", "C3", "--why", "old"),
    "another text": ("edit", "C1", "Push as you like"),
    "another scope": ("edit", "C1", "--scope", "command:git log"),
    "no scope": ("edit", "C1", "--no-scope"),
    "another mode": ("edit", "C1", "--mode", "warn"),
    "not blocking": ("edit", "C1", "--not-blocking"),
    "another source": ("edit", "C1", "--source", "nobody"),
    "another text of a proposal": ("edit", "C2", "Publish"),
    "drop a rule": ("drop", "C1"),
    "drop a proposed rule": ("drop", "C2"),
    "forget": ("forget", "C1"),
    "forget a proposal": ("forget", "C2"),
    "forget by text": ("forget", "--match", "force-push"),
    "uninstall": ("uninstall",),
    "uninstall from all projects": ("uninstall", "--scope", "user"),
    "purge": ("uninstall", "--purge"),
    "purge beside another host": ("uninstall", "--host", "codex", "--purge"),
    "another archive": ("link", "0123456789abcdef"),
}


def in_a_pipe(project: Project, command: tuple[str, ...]) -> Done:
    """As an agent's shell runs it."""
    return project.run(*command, **AGENT)


def without_the_variable(project: Project, command: tuple[str, ...]) -> Done:
    """As an agent's shell runs it that takes its variables out."""
    return project.execute((*HIDDEN, *PROGRAM, *command), "yes\n", AGENT)


def at_a_terminal(project: Project, command: tuple[str, ...]) -> Done:
    """At a terminal that an agent made, with the agent's variables."""
    return project.at_terminal(*command, **AGENT)


def by_its_session(project: Project, command: tuple[str, ...]) -> Done:
    """The same, where only the session's variable is left."""
    return project.at_terminal(*command, CLAUDE_CODE_SESSION_ID="s")


def below_an_agent(project: Project, command: tuple[str, ...]) -> Done:
    """At a terminal, without the variables, but in a shell that has them."""
    line = f"{shlex.join((*HIDDEN, *PROGRAM, *command))}; exit $?"
    done = run_at_terminal(["bash", "-c", line], project.folder, {**os.environ, "HOME": str(project.home), **AGENT})
    return Done(done.code, done.out.decode(), done.err.decode())


WAYS = [in_a_pipe, without_the_variable, at_a_terminal, by_its_session, below_an_agent]


def fill_ruled(project: Project, _folder: Path) -> None:
    """A rule that is in force, and proposals to change it."""
    assert project.run(*FORCE_PUSH, "--mode", "deny").code == 0
    path = project.state_path
    state = json.loads(path.read_text(encoding="utf-8"))
    (rule,) = state["constraints"]
    softer = {**rule, "constraint": "Push as you like", "mode": "warn", "scope": {"commands": ["git"]}}
    state["constraints"] = [{**rule, "id": "C7", "constraint": "Never publish"}, softer]
    path.write_text(json.dumps(state), encoding="utf-8")
    project.ask("load")
    state["constraints"] = []
    state["decisions"] = [{"id": "C1", "decision": "Force-push", "rationale": "r", "timestamp": rule["timestamp"]}]
    path.write_text(json.dumps(state), encoding="utf-8")
    project.ask("load")


@pytest.fixture
def ruled(prepared: Prepared) -> Iterator[Project]:
    """A project with a rule that is in force, and proposals to change it; at the end all of it is as it was."""
    project = prepared(fill_ruled)
    before = kept(project)
    assert {ref: status for ref, (_, status) in before.items()} == {
        "C1": "active", "C2": "proposed", "C3": "proposed", "D1": "proposed"
    }  # fmt: skip
    yield project
    assert {ref: kept(project)[ref] for ref in before} == before
    assert decision(call(project, command="git push --force")) == "deny"


def kept(project: Project) -> dict[str, tuple[object, str]]:
    """What is recorded of every item, by its id."""
    done = project.run("export", "--items")
    items = map(json.loads, done.out.splitlines())
    return {item["alias"]: (item["body"], item["status"]) for item in items}


def test_no_path_of_an_agent_takes_a_rule_away(ruled: Project) -> None:
    for path, command in PATHS.items():
        assert is_refused(done := in_a_pipe(ruled, command)), (path, done)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_way_of_an_agent_takes_a_rule_away(ruled: Project, way: Callable[..., Done]) -> None:
    for path in ("lift", "accept several", "another mode", "drop a rule", "forget by text", "purge", "another archive"):
        assert is_refused(done := way(ruled, PATHS[path])), (path, done)


def is_refused(done: Done) -> bool:
    return (done.code, "only the user" in done.err, done.err.count("\n")) == (2, True, 1)


def test_no_option_and_no_pipe_answers_for_the_user(ruled: Project) -> None:
    for command in PATHS.values():
        assert ruled.run(*command, "--yes").code == 2
        done = ruled.run(*command, stdin="yes\n")
        assert (done.code, "this is no terminal" in done.err) == (2, True)


def test_the_user_is_asked_and_nothing_happens_unless_they_say_yes(ruled: Project) -> None:
    for command in PATHS.values():
        done = ruled.at_terminal(*command, answer="y")
        assert (done.code, "nothing was changed" in done.err) == (2, True), (command, done)


def lift_c1(project: Project) -> None:
    assert project.at_terminal("constraint", "lift", "C1").code == 0


def reopen_c1(project: Project) -> None:
    lift_c1(project)
    assert project.at_terminal("reopen", "C1").code == 0


# What the user did to a rule, and the statuses of C1 and C2 then.
DECIDED: dict[str, tuple[Callable[[Project], object], str, str]] = {
    "lift": (lift_c1, "resolved", "proposed"),
    "drop": (lambda project: project.at_terminal("drop", "C1"), "dismissed", "proposed"),
    "edit": (lambda project: project.at_terminal("edit", "C1", "Never push"), "superseded", "proposed"),
    "accept": (lambda project: project.at_terminal("inbox", "accept", "C2"), "active", "active"),
    "reject": (lambda project: project.at_terminal("inbox", "reject", "C2"), "active", "dismissed"),
    "reopen": (reopen_c1, "active", "proposed"),
}


@pytest.mark.parametrize("name", DECIDED)
def test_no_agent_undoes_what_the_user_did_to_a_rule_and_the_user_does(prepared: Prepared, name: str) -> None:
    project = prepared(fill_ruled)
    before = kept(project)
    decide, *statuses = DECIDED[name]
    decide(project)
    after = kept(project)
    assert [after[ref][1] for ref in ("C1", "C2")] == statuses
    for way in (in_a_pipe, at_a_terminal):
        done = way(project, ("undo",))
        assert (done.code, done.err.count("\n")) == (2, 1), (way, done)
        assert "only the user" in done.err or "nothing to undo" in done.err, (way, done)
    assert project.run("undo", "--yes").code == 2
    assert project.run("undo", stdin="yes\n").code == 2
    assert project.at_terminal("undo", answer="no").code == 2
    assert kept(project) == after
    assert project.at_terminal("undo").code == 0
    wanted = "resolved" if name == "reopen" else "active"
    assert (kept(project)["C1"][1], kept(project)["C2"][1]) == (wanted, before["C2"][1])


def test_no_agent_reopens_a_rule_that_the_user_lifted_or_dropped(prepared: Prepared) -> None:
    for verb in (("constraint", "lift", "C1"), ("drop", "C1")):
        project = prepared(fill_ruled)
        assert project.at_terminal(*verb).code == 0
        for way in (in_a_pipe, below_an_agent):
            assert is_refused(done := way(project, ("reopen", "C1"))), (way, done)
        assert not (project.folder / ".claude" / "settings.local.json").exists()
        assert project.at_terminal("reopen", "C1").code == 0
        assert decision(call(project, command="git push --force")) == "deny"


def test_the_user_corrects_a_rule_at_a_terminal(prepared: Prepared) -> None:
    project = prepared(fill_ruled)
    assert project.at_terminal("edit", "C1", "--mode", "ask").out == "C4\n"
    assert decision(call(project, command="git push --force")) == "ask"
    assert project.at_terminal("edit", "C4", "--scope", "command:git tag -d").out == "C5\n"
    assert decision(call(project, command="git push --force")) is None
    assert decision(call(project, command="git tag -d v1")) == "ask"
    assert project.at_terminal("undo").code == 0
    assert project.at_terminal("undo").code == 0
    assert decision(call(project, command="git push --force")) == "deny"
    assert project.at_terminal("edit", "C2", "Never publish on Fridays").out == "C6\n"
    assert {ref: status for ref, (_, status) in kept(project).items() if ref in {"C1", "C2", "C6"}} == {
        "C1": "active", "C2": "superseded", "C6": "active"
    }  # fmt: skip


def test_a_lift_that_an_agent_asks_for_is_proposed_once(ruled: Project) -> None:
    for _ in range(2):
        done = ruled.run("constraint", "lift", "C1", **AGENT)
        assert "`unified-state inbox accept D2` lifts it too" in done.err, done
    lifts = [item for item in ruled.ask("inbox", "list") if item.get("decision") == "Lift C1: Never force-push"]
    assert [item["id"] for item in lifts] == ["D2"]


def test_what_an_agent_proposed_lifts_the_rule_once_the_user_accepts_it(project: Project) -> None:
    assert project.run(*FORCE_PUSH, "--mode", "deny").code == 0
    assert project.run("constraint", "lift", "C1", **AGENT).code == 2
    assert project.run("inbox", "accept", "D1", **AGENT).code == 2
    assert project.at_terminal("inbox", "accept", "D1").code == 0
    assert project.ask("constraint", "list") == []
    assert not (project.folder / ".claude" / "settings.local.json").exists()


_API = """
import sys
sys.path.insert(0, sys.argv[1])
from unified_state.errors import UsageError
from unified_state.ledger.correct_item import drop
from unified_state.upkeep.forget.forget_refs import ForgetRequest, forget
from unified_state.state_file.writer.correct_state import correct, decide_proposals
from unified_state.state_file.writer.record_state import add_item
from unified_state.state_file.writer.correct_state import lift_constraint
from unified_state.state_file.manager import program_workspace
workspace = program_workspace(None, None)
body = {"constraint": "Push as you like", "source": "me", "blocking": False}
for verb in (
    lambda: lift_constraint(workspace, "C1"),
    lambda: decide_proposals(workspace, ["C2"], accepted=True),
    lambda: decide_proposals(workspace, ["D1"], accepted=True),
    lambda: decide_proposals(workspace, ["C2"], accepted=False),
    lambda: add_item(workspace, "constraint", body, supersedes="C1"),
    lambda: forget(workspace, 0, ForgetRequest(ref="C1")),
    lambda: forget(workspace, 0, ForgetRequest(text="force-push")),
    lambda: correct(workspace, drop, "C1"),
    lambda: correct(workspace, drop, "C2"),
):
    try:
        verb()
    except UsageError as error:
        print(error.message)
"""


@pytest.mark.parametrize("is_at_terminal", [False, True])
def test_the_python_api_only_proposes(ruled: Project, is_at_terminal: bool) -> None:
    command = [sys.executable, "-c", _API, str(ROOT)]
    if is_at_terminal:
        out = run_at_terminal(command, ruled.folder, {**os.environ, "HOME": str(ruled.home)}).out.decode()
    else:
        out = ruled.execute(command, "", {}).out
    assert [line.startswith("only the user") for line in out.splitlines()] == [True] * 9
    assert [item["decision"] for item in ruled.ask("inbox", "list") if item["id"] == "D2"]


def test_the_mcp_server_has_no_tool_that_takes_a_rule_away(ruled: Project) -> None:
    with McpClient(ruled) as client:
        names = {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
        assert not [
            name for name in names for verb in ("lift", "accept", "dismiss", "reject", "forget", "link") if verb in name
        ]
        arguments = {"kind": "decision", "text": "Push as you like", "reason": "r", "supersedes": "C1"}
        answer = client.ask("tools/call", name="add", arguments=arguments)["result"]
        assert answer["isError"]
        for changes in ({"text": "Push as you like"}, {"blocking": False}, {"drop": True}):
            for ref in ("C1", "C2"):
                client.ask("tools/call", name="edit", arguments={"id": ref, **changes})
        client.ask("tools/call", name="resolve", arguments={"id": "C1"})


def test_an_import_forgets_no_rule_that_is_in_force(project: Project, tmp_path: Path) -> None:
    assert project.run(*FORCE_PUSH, "--mode", "deny").code == 0
    archive = project.archive
    before = archive.read_bytes()
    assert project.at_terminal("forget", "C1").code == 0
    told = tmp_path / "told.jsonl"
    assert project.run("export", "--full", str(told)).code == 0
    for path in archive.parent.glob("archive.db*"):
        path.unlink()
    archive.write_bytes(before)
    assert project.run("import", str(told), "--own").code == 0
    assert [item["id"] for item in project.ask("constraint", "list")] == ["C1"]


def test_a_command_that_changes_the_environment_of_our_program_is_asked_about(ruled: Project) -> None:
    command = "env -u CLAUDECODE unified-state constraint lift C1"
    assert decision(call(ruled, command=command)) == "ask"
    assert decision(call(ruled, command="unified-state decision list")) is None
    assert decision(call(ruled, command=f"git push -f; {command}")) == "deny"
