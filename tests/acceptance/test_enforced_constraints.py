"""Constraints that are enforced: by the hook that the settings hold, whatever happens to the files behind it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from unified_state.hosts.transcripts.rules.hosts import AGENT_VARIABLES

from .conftest import Prepared
from .product import Done, Project, restored, well_printed
from .transcripts import Json

AGENT = {"CLAUDECODE": "1"}
FORCE_PUSH = ("constraint", "add", "Never force-push", "--source", "the team", "--scope", "command:git push --force")
WRITERS = 8


def fill_forbidden(project: Project, _folder: Path) -> None:
    """A rule of the user's that forbids a forced push."""
    assert project.run(*FORCE_PUSH, "--mode", "deny").code == 0


@pytest.fixture
def forbidden(prepared: Prepared) -> Project:
    """A project in which the user forbade a forced push."""
    return prepared(fill_forbidden)


def settings(folder: Path) -> Json:
    """The worktree's own settings of the client."""
    path = folder / ".claude" / "settings.local.json"
    found: Json = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def call(project: Project, tool: str = "Bash", cwd: Path | None = None, **given: object) -> Done:
    """What the hook in the settings answers to a tool call."""
    ((handler,),) = [group["hooks"] for group in settings(project.folder)["hooks"]["PreToolUse"]]
    stdin = project.event("PreToolUse", tool_name=tool, tool_input=given, **({"cwd": str(cwd)} if cwd else {}))
    environment = {"CLAUDE_PROJECT_DIR": str(project.folder), **AGENT}
    return project.execute([handler["command"], *handler["args"]], stdin, environment)


def decision(done: Done) -> str | None:
    """What the hook decided; None where it let the call pass."""
    assert well_printed(done), done
    output = json.loads(done.out)["hookSpecificOutput"] if done.out else {}
    return "warn" if "additionalContext" in output else output.get("permissionDecision")


def table(project: Project) -> Path:
    """The table of the only repository there is."""
    return project.archive.with_name("enforced.json")


def test_the_answer_says_which_constraint_whose_since_when_and_how_to_lift_it(forbidden: Project) -> None:
    output = json.loads(call(forbidden, command="git push -f").out)["hookSpecificOutput"]
    since = forbidden.ask("constraint", "list")[0]["timestamp"][:10]
    assert output["permissionDecisionReason"] == (
        f"Constraint C1 forbids this: Never force-push (the user said, since {since}, source: the team). "
        "Matched: git push --force.\n"
        "Only the user can lift it, in a terminal of their own: unified-state resolve C1"
    )


def test_a_subagent_is_stopped_too(forbidden: Project) -> None:
    push = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
    assert decision(forbidden.hook("PreToolUse", agent_id="a1", agent_type="general-purpose", **push)) == "deny"


def test_only_the_users_own_word_denies(project: Project) -> None:
    done = project.run(*FORCE_PUSH, "--mode", "deny", **AGENT)
    assert "only the user's own word denies" in done.err
    answer = call(project, command="git push --force")
    assert decision(answer) == "ask"
    assert "It was meant to deny, but only the user's own word does" in answer.out


def test_what_is_only_proposed_is_not_enforced_before_the_user_accepts_it(forbidden: Project) -> None:
    state = forbidden.state_path.read_text(encoding="utf-8")
    changed = state.replace("git push --force", "npm publish").replace('"C1"', '"C7"')
    forbidden.state_path.write_text(changed, encoding="utf-8")
    forbidden.run("load")
    (proposal,) = [item for item in forbidden.ask("constraint", "list") if item.get("status") == "proposed"]
    assert decision(call(forbidden, command="npm publish")) is None
    assert forbidden.at_terminal("inbox", "accept", proposal["id"]).code == 0
    assert decision(call(forbidden, command="npm publish")) == "deny"


@pytest.mark.parametrize(
    "command",
    [("constraint", "lift", "C1"), ("uninstall", "--host", "codex", "--purge")],
)
def test_the_agent_cannot_take_a_constraint_of_the_user_away(forbidden: Project, command: tuple[str, ...]) -> None:
    done = forbidden.run(*command, **AGENT)
    assert (done.code, "only the user" in done.err, done.err.count("\n")) == (2, True, 1)
    assert decision(call(forbidden, command="git push --force")) == "deny"


@pytest.mark.parametrize("variable", sorted(AGENT_VARIABLES)[::4])
def test_the_agent_of_another_host_does_not_speak_as_the_user(forbidden: Project, variable: str) -> None:
    done = forbidden.run("constraint", "lift", "C1", **{variable: "1"})
    assert (done.code, "only the user lifts C1" in done.err) == (2, True)
    scoped = (*FORCE_PUSH[:4], "me", "--scope", "command:make")
    assert forbidden.run(*scoped, "--mode", "deny", **{variable: "1"}).code == 0
    assert decision(call(forbidden, command="make")) == "ask"


def test_the_agent_does_not_take_a_constraint_away_by_using_another_archive(forbidden: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other", forbidden.home)
    other.folder.mkdir()
    other.decide("Something else")
    (wanted,) = {path.parent.name for path in forbidden.archives} - {forbidden.ask("status")["repository"]}
    done = forbidden.run("link", wanted, **AGENT)
    assert (done.code, "only the user links another archive" in done.err) == (2, True)
    assert decision(call(forbidden, command="git push --force")) == "deny"


def test_a_damaged_table_does_not_let_the_agent_uninstall(forbidden: Project) -> None:
    table(forbidden).write_bytes(b"x")
    assert forbidden.run("uninstall", **AGENT).code == 2
    assert decision(call(forbidden, command="git push --force")) == "deny"


def test_a_file_of_the_project_does_not_switch_it_off(forbidden: Project) -> None:
    (forbidden.folder / ".claude" / "unified-state.toml").write_text("enabled = false\n", encoding="utf-8")
    assert decision(call(forbidden, command="git push --force")) == "deny"


def test_the_user_switches_it_off(forbidden: Project, write_settings: Callable[[str], None]) -> None:
    write_settings("enabled = false\n")
    assert decision(call(forbidden, command="git push --force")) is None


def test_settings_that_cannot_be_read_are_told_and_left_alone(project: Project) -> None:
    path = project.folder / ".claude" / "settings.local.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("{ // mine\n}", encoding="utf-8")
    done = project.run(*FORCE_PUSH)
    assert (done.code, done.out) == (0, "C1\n")
    assert "not valid JSON" in done.err
    assert path.read_text(encoding="utf-8") == "{ // mine\n}"
    path.write_text("{}", encoding="utf-8")
    restored(project, project.folder / "t.jsonl", source="startup")
    assert decision(call(project, command="git push --force")) == "ask"


@pytest.mark.parametrize("damage", [b"00000000\n{}", None])
def test_a_table_that_is_missing_or_damaged_is_made_anew(forbidden: Project, damage: bytes | None) -> None:
    if damage is None:
        table(forbidden).unlink()
    else:
        table(forbidden).write_bytes(damage)
    assert decision(call(forbidden, command="git push --force")) == "deny"
    assert decision(call(forbidden, command="git push")) is None


def test_a_table_that_cannot_be_had_is_said_and_the_state_file_counts(forbidden: Project) -> None:
    table(forbidden).unlink()
    archive = forbidden.archive
    kept = archive.read_bytes()
    archive.unlink()
    archive.mkdir()
    assert decision(call(forbidden, command="git push --force")) == "deny"
    assert "cannot be used" in json.loads(call(forbidden, command="ls").out)["systemMessage"]
    forbidden.state_path.rename(forbidden.state_path.with_suffix(".kept"))
    assert decision(call(forbidden, command="ls")) == "ask"
    forbidden.state_path.with_suffix(".kept").rename(forbidden.state_path)
    assert "PreToolUse" in forbidden.log()
    assert "PreToolUse" in checks(forbidden)
    archive.rmdir()
    archive.write_bytes(kept)
    assert decision(call(forbidden, command="git push --force")) == "deny"
    assert "PreToolUse" not in checks(forbidden)


def test_an_archive_that_was_lost_is_enforced_as_the_state_file_says(forbidden: Project) -> None:
    forbidden.archive.unlink()
    assert decision(call(forbidden, command="git push --force")) == "deny"
    forbidden.run("load")
    assert decision(call(forbidden, command="git push --force")) == "deny"
    assert forbidden.ask("constraint", "list")[0]["scope"] == {"commands": ["git push --force"]}


def test_what_is_forgotten_leaves_the_table_too(forbidden: Project) -> None:
    forbidden.at_terminal("forget", "C1")
    assert b"force" not in table(forbidden).read_bytes()


def test_an_archive_that_comes_back_from_a_copy_is_enforced_as_it_is(forbidden: Project) -> None:
    copy = forbidden.archive.with_suffix(".copy")
    shutil.copyfile(forbidden.archive, copy)
    forbidden.at_terminal("constraint", "lift", "C1")
    os.replace(copy, forbidden.archive)
    restored(forbidden, forbidden.folder / "t.jsonl", source="startup")
    assert decision(call(forbidden, command="git push --force")) == "deny"


def test_a_new_worktree_enforces_from_its_first_session_on(forbidden: Project, git: Callable[..., str]) -> None:
    other = Project(forbidden.folder.parent / "other", forbidden.home)
    git("worktree", "add", "--quiet", str(other.folder), "-b", "other", cwd=forbidden.folder)
    restored(other, forbidden.folder / "t.jsonl", source="startup")
    assert decision(call(other, command="git push --force")) == "deny"
    forbidden.at_terminal("constraint", "lift", "C1")
    restored(other, forbidden.folder / "t.jsonl", source="startup")
    assert "hooks" not in settings(other.folder)


def test_of_eight_writers_at_once_every_constraint_is_enforced(project: Project) -> None:
    def add(number: int) -> Done:
        return project.run(*FORCE_PUSH[:4], "me", "--scope", f"command:program{number}", "--mode", "deny")

    with ThreadPoolExecutor(WRITERS) as pool:
        assert {done.code for done in pool.map(add, range(WRITERS))} == {0}
    answers = [decision(call(project, command=f"program{number}")) for number in range(WRITERS)]
    assert answers == ["deny"] * WRITERS
    assert len(settings(project.folder)["hooks"]["PreToolUse"]) == 1


def test_hooks_of_another_folder_do_not_lose_the_project(forbidden: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = call(forbidden, cwd=elsewhere, command=f"git -C {forbidden.folder} push -f")
    assert decision(done) == "deny"


@pytest.mark.parametrize("given", [b"", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_input_that_is_no_call_is_said_in_one_line_and_stops_nothing(forbidden: Project, given: bytes) -> None:
    ((handler,),) = [group["hooks"] for group in settings(forbidden.folder)["hooks"]["PreToolUse"]]
    done = forbidden.execute([handler["command"], *handler["args"]], given, {})
    assert decision_free(done)
    assert len(json.loads(done.out)["systemMessage"].splitlines()) == 1 if given else not done.out


def test_a_command_that_is_too_long_to_be_read_is_asked_about_and_never_just_passes(forbidden: Project) -> None:
    done = call(forbidden, command="git push --force " + "x" * 200_000)
    assert decision(done) == "ask"
    assert "too long or too deeply nested" in done.out
    assert decision(call(forbidden, command="echo " + "x" * 200_000)) is None


def test_a_call_that_is_longer_than_the_hook_reads_is_asked_about(forbidden: Project, git: Callable[..., str]) -> None:
    done = call(forbidden, "Write", file_path="a", content="x" * (65 << 20))
    assert decision(done) == "ask"
    assert "too long to be checked" in done.out
    many = [f"src/{number}" for number in range(300)]
    forbidden.run(*FORCE_PUSH[:4], "me", "--scope", "path:migrations/**", "--mode", "deny")
    assert decision(call(forbidden, "mcp__fs__write_files", paths=many)) == "ask"
    other = Project(forbidden.folder.parent / "other", forbidden.home)
    git("init", "--quiet", str(other.folder), cwd=forbidden.folder)
    ((handler,),) = [group["hooks"] for group in settings(forbidden.folder)["hooks"]["PreToolUse"]]
    told = other.execute([handler["command"], *handler["args"]], b"x" * (65 << 20), {})
    assert decision_free(told)


def test_a_command_of_a_skill_is_checked_as_a_call_is(forbidden: Project) -> None:
    ((handler,),) = [group["hooks"] for group in settings(forbidden.folder)["hooks"]["PreSkillShellCommand"]]

    def answer(command: str) -> Json:
        fields = {"tool_name": "Bash", "tool_input": {"command": command}, "command_name": "go"}
        stdin = forbidden.event("PreSkillShellCommand", **fields)
        done = forbidden.execute([handler["command"], *handler["args"]], stdin, {})
        found: Json = json.loads(done.out or "{}")
        return found

    denied = answer("git push -f")["hookSpecificOutput"]
    assert (denied["hookEventName"], denied["permissionDecision"]) == ("PreSkillShellCommand", "deny")
    assert answer("git push") == {}
    forbidden.at_terminal("edit", "C1", "--mode", "warn")
    assert list(answer("git push -f")) == ["systemMessage"]
    forbidden.at_terminal("constraint", "lift", "C2")
    assert "hooks" not in settings(forbidden.folder)


def test_a_session_start_tells_what_is_enforced(forbidden: Project) -> None:
    brief = restored(forbidden, forbidden.folder / "t.jsonl", source="startup")["brief"]
    assert "C1 (the user said, blocking, enforced, deny: git push --force): Never force-push." in brief


def checks(project: Project) -> dict[str, bool]:
    """The checks of `doctor` by name."""
    return {check["name"]: check["ok"] for check in json.loads(project.run("doctor", "--json").out)}


def decision_free(done: Done) -> bool:
    """Whether a hook decided nothing."""
    return well_printed(done) and (not done.out or "hookSpecificOutput" not in json.loads(done.out))
