"""The memory for all projects: the user's own items, given back in each project behind the project's own.

No agent and no repository writes it. Where it cannot be read, everything else goes on.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from unified_state.state_file.manager import UnifiedStateManager

from .mcp_client import McpClient
from .product import PROGRAM, Done, Project, all_restored
from .test_subagents import given
from .transcripts import Transcript

pytestmark = pytest.mark.usefixtures("no_settings")
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}
UV = "Use uv, not pip"
TITLE = "[FOR ALL PROJECTS]"


@pytest.fixture
def other(project: Project, committed: Path, tmp_path: Path) -> Project:
    """Another project of the same user."""
    shutil.copytree(committed, tmp_path / "other")
    return Project(tmp_path / "other", project.home)


def record(project: Project, text: str = UV, *options: str) -> str:
    """Record a constraint for all projects as the user does; its ref."""
    done = project.at_terminal("constraint", "add", "--global", text, *options)
    assert done.code == 0, done
    return done.out.strip()


def begun(project: Project, source: str = "startup") -> str:
    """What a session of a project is given at its start, of which the hooks have nothing to complain."""
    path = project.folder.parent / f"{project.folder.name}.jsonl"
    written = Transcript(f"{project.folder.name}-session")
    written.prompt("hello")
    written.write(path)
    return all_restored(project, path, session_id=written.session_id, source=source)


def listed(project: Project) -> list[str]:
    return [f"{one['id']} {one['constraint']}" for one in project.ask("list", "constraint", "--global")]


@pytest.mark.parametrize("source", ["startup", "compact", "clear", "resume"])
def test_it_is_given_back_in_every_project_behind_the_projects_own(
    project: Project, other: Project, source: str
) -> None:
    assert record(project) == "global:C1"
    assert project.run("constraint", "add", "Never push").code == 0
    text, elsewhere = begun(project, source), begun(other, source)
    line = "  global:C1 (the user said): Use uv, not pip."
    assert f"{TITLE} 1 recorded by the user\n{line}" in elsewhere
    assert f"{TITLE} 1 recorded by the user\n{line}" in text
    assert source == "resume" or text.index("C1 (the user said): Never push.") < text.index(TITLE)
    assert UV not in project.state_path.read_text(encoding="utf-8")  # a project's file holds the project's


def test_a_preview_and_a_subagent_get_it_too(project: Project) -> None:
    record(project)
    begun(project)
    assert UV in project.run("preview").out
    written = Transcript("s")
    written.prompt("look into the parser")
    assert "global:C1 (the user said): Use uv, not pip." in given(project, written, "Test the parser.")


@pytest.mark.parametrize("way", ["pipe", "terminal", "hidden", "alone"])
def test_no_command_of_an_agent_writes_it(project: Project, way: str) -> None:
    record(project)
    commands = (("constraint", "add", "--global", "Obey"), ("edit", "global:C1", "Obey"), ("drop", "global:C1"))
    for command in (*commands, ("undo", "--global"), ("forget", "global:C1", "--yes")):
        done = _by_agent(project, way, command)
        assert (done.code, "only the user" in done.err, done.out) == (2, True, ""), (command, done)
    assert listed(project) == ["global:C1 Use uv, not pip"]
    assert project.ask("inbox", "--global") == []


def _by_agent(project: Project, way: str, command: tuple[str, ...]) -> Done:
    if way == "terminal":
        return project.at_terminal(*command, **AGENT)
    if way == "alone":  # no agent's, and no person's
        return project.run(*command, stdin="yes\n")
    hidden = ("env", "--unset", "CLAUDECODE", "--unset", "CLAUDE_CODE_SESSION_ID") if way == "hidden" else ()
    return project.execute((*hidden, *PROGRAM, *command), "yes\n", AGENT)


def test_what_a_program_writes_into_its_folder_is_not_given_back(project: Project) -> None:
    record(project)
    folder = project.data / "global"
    UnifiedStateManager(folder).add_constraint("Obey the program", "me", blocking=True)
    state = folder / ".claude" / "unified-session-state.json"
    state.write_text(state.read_text(encoding="utf-8").replace(UV, "Obey the file"), encoding="utf-8")
    assert record(project, "Answer in German").startswith("global:C")
    text = begun(project)
    assert "Obey" not in text
    assert (UV in text, "Answer in German" in text) == (True, True)


def test_an_agent_may_read_where_it_comes_from_and_not_change_it(project: Project) -> None:
    record(project)
    with McpClient(project) as client:
        shown = client.call("show", id="global:C1")
        changed = client.call("edit", id="global:C1", text="Obey")
    assert UV in json.dumps(shown)
    assert changed["isError"] is True
    assert "only the user changes what holds for all projects" in json.dumps(changed)


def test_no_repository_brings_it(project: Project, other: Project, tmp_path: Path) -> None:
    record(other, "Obey the stranger")
    stolen = project.folder / "data"
    shutil.move(other.data, stolen)
    settings = project.folder / ".claude" / "unified-state.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(f'data_dir = "{stolen}"\n', encoding="utf-8")
    shutil.copytree(stolen / "global", project.folder / ".claude" / "unified-state" / "global")
    assert "Obey the stranger" not in project.run("preview").out
    assert listed(project) == []


def test_a_home_that_is_a_repository_has_a_memory_of_its_own(project: Project) -> None:
    assert project.execute(["git", "init", "-q", str(project.home)], "", {}).code == 0
    home = Project(project.home, project.home)
    assert home.run("constraint", "add", "of the dotfiles").code == 0
    record(project)
    assert "of the dotfiles" not in begun(project)
    assert listed(home) == ["global:C1 Use uv, not pip"]


def test_one_setting_turns_it_off(project: Project, other: Project) -> None:
    record(project)
    path = project.folder / ".claude" / "unified-state.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text("global_memory = false\n", encoding="utf-8")
    assert UV not in begun(project)
    assert UV in begun(other)
    assert [one for one in project.ask("list", "constraint") if "uv" in one["constraint"]] == []
    assert project.ask("search", "uv") == []


def test_it_is_edited_taken_back_and_forgotten_by_its_refs(project: Project) -> None:
    record(project)
    project.decide("of this project")
    assert project.run("constraint", "add", "Never push").code == 0
    edited = project.at_terminal("edit", "global:C1", "Use uv, never pip")
    assert (edited.code, edited.out) == (0, "global:C2\n"), edited
    assert project.at_terminal("undo", "--global").code == 0
    assert listed(project) == ["global:C1 Use uv, not pip"]
    assert project.at_terminal("drop", "global:C1").code == 0
    assert listed(project) == []
    assert project.at_terminal("undo", "global:C1").out == "global:C1\n"
    assert " C1 reopened " in project.run("history", "global:C1").out
    assert UV in project.run("show", "global:C1").out
    assert project.at_terminal("forget", "global:C1", "--yes").code == 0
    assert (listed(project), UV in begun(project)) == ([], False)
    assert [one["constraint"] for one in project.ask("list", "constraint")] == ["Never push"]


def test_it_is_shown_in_one_place(project: Project) -> None:
    assert project.at_terminal("remember", "--global", UV).out == "global:C1\n"
    assert project.at_terminal("decision", "add", "--global", "Black for Python", "--reason", "habit").code == 0
    lines = project.run("list", "--global").out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["global:C1", "global:D1"]


def test_it_stands_behind_the_projects_own_under_its_mark(project: Project) -> None:
    record(project)
    assert project.run("constraint", "add", "Never use pip").code == 0
    shown = ["C1", "global:C1"]
    assert [one["id"] for one in project.ask("list", "constraint")] == shown
    assert [one["id"] for one in project.ask("list")["constraints"]] == shown
    assert [one["ref"] for one in project.ask("search", "use pip")] == shown
    assert [line.split()[0] for line in project.run("list", "constraint").out.splitlines()] == shown
    assert f"{TITLE} 1 recorded by the user\n  global:C1 " in project.run("list").out
    assert project.run("show", "global:C1").out.startswith("global:C1  active, user_said")
    with McpClient(project) as client:
        state, hits = client.call("list")["structuredContent"], client.call("search", query="use pip")
        assert [one["id"] for one in state["constraints"]] == shown
        assert [hit["ref"] for hit in hits["structuredContent"]["hits"]] == shown
    assert UV not in project.state_path.read_text(encoding="utf-8")
    assert project.ask("list", "--at", "1d")["state"]["constraints"] == []  # the project's past


def test_a_rule_of_it_is_dropped_by_a_yes_alone(project: Project) -> None:
    record(project)
    refused = project.at_terminal("drop", "global:C1", answer="no")
    assert (refused.code, "`unified-state inbox accept global:D1` drops it too" in refused.err) == (2, True), refused
    assert UV in begun(project)
    assert [one["id"] for one in project.ask("inbox", "--global")] == ["D1"]
    assert project.at_terminal("inbox", "accept", "global:D1").code == 0
    assert "global:C1 " not in begun(project)


def test_it_is_told_and_not_enforced(project: Project) -> None:
    done = project.at_terminal("constraint", "add", "--global", "No force-push", "--scope", "command:git push --force")
    assert (done.code, "and no hook enforces it" in done.err) == (2, True)


def test_two_projects_write_it_at_once(project: Project, other: Project) -> None:
    texts = [f"rule {number}" for number in range(6)]
    with ThreadPoolExecutor(2) as pool:
        refs = list(pool.map(record, [project, other] * 3, texts))
    assert sorted(refs) == [f"global:C{number}" for number in range(1, 7)]
    for one in (project, other):
        assert [text for text in texts if text not in begun(one)] == []


def _missing(folder: Path) -> None:
    shutil.rmtree(folder)


def _read_only(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o500 if path.is_dir() else 0o400)


def _damaged(folder: Path) -> None:
    (folder / "archive.db").write_bytes(b"no archive at all" * 500)


def _no_folder(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file", encoding="utf-8")


@pytest.mark.parametrize("harm", [_missing, _read_only, _damaged, _no_folder])
def test_without_it_everything_else_comes_back(project: Project, harm: Callable[[Path], None]) -> None:
    record(project)
    assert project.run("constraint", "add", "Never push").code == 0
    harm(project.data / "global")
    try:
        assert "C1 (the user said): Never push." in begun(project)
        assert project.run("preview").code == 0
    finally:
        if harm is _read_only:
            for path in (project.data / "global", *(project.data / "global").rglob("*")):
                path.chmod(0o700)
