"""`install` makes it whole: hooks, command, skill; kept when repeated, shown before written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from unified_state.lib.package import asset_path

from .product import PROGRAM, Project

SKILL = Path(".claude/skills/session-memory/SKILL.md")
SETTINGS = Path(".claude/settings.local.json")


def everything_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if ".git" not in path.parts}


def allowed(path: Path) -> list[str]:
    settings = json.loads(path.read_text(encoding="utf-8"))
    return list(settings.get("permissions", {}).get("allow", []))


def test_install_writes_the_hooks_the_command_and_the_skill(project: Project) -> None:
    done = project.run("install")
    assert done.code == 0
    source = Path(asset_path("skills", "session-memory", "SKILL.md")).read_text(encoding="utf-8")
    assert (project.folder / SKILL).read_text(encoding="utf-8").startswith(source.rstrip("\n"))
    assert (project.folder / ".claude" / "commands" / "context-compact.md").exists()
    assert str(project.folder / SKILL) in done.out


def test_what_no_option_says_is_not_allowed(project: Project) -> None:
    project.run("install")
    assert allowed(project.folder / SETTINGS) == []
    assert "statusLine" not in json.loads((project.folder / SETTINGS).read_text(encoding="utf-8"))


def test_a_status_line_of_the_users_own_is_not_replaced_unasked(project: Project) -> None:
    path = project.folder / SETTINGS
    path.parent.mkdir()
    path.write_text('{"statusLine": {"type": "command", "command": "date"}}', encoding="utf-8")
    project.run("install")
    assert json.loads(path.read_text(encoding="utf-8"))["statusLine"]["command"] == "date"


CHOICES = (
    "--allow-reading",
    "--allow-recording",
    "--lean",
    "middle",
    "--status-line",
    "--reminders",
    "on",
    "--tool-calls",
)


def test_every_choice_is_sticky(project: Project) -> None:
    assert project.run("install", *CHOICES).code == 0
    chosen = (project.folder / SETTINGS).read_bytes()
    kept = json.loads(project.run("install", "--json").out)
    assert (project.folder / SETTINGS).read_bytes() == chosen
    assert [kept[name] for name in ("reading", "recording", "lean", "status_line")] == [True, True, "middle", True]
    assert (kept["reminders"], kept["tool_calls"]) == (True, True)


def test_every_choice_can_be_taken_back(project: Project) -> None:
    project.run("install", *CHOICES)
    back = (
        "--no-allow-reading",
        "--no-allow-recording",
        "--no-status-line",
        "--lean",
        "off",
        "--reminders",
        "off",
        "--no-tool-calls",
    )
    kept = json.loads(project.run("install", *back, "--no-skill", "--json").out)
    assert [kept[name] for name in ("reading", "lean", "status_line", "reminders")] == [False, None, False, False]
    assert not kept["tool_calls"]
    assert "PostToolBatch" not in (project.folder / SETTINGS).read_text(encoding="utf-8")
    assert allowed(project.folder / SETTINGS) == []
    assert not (project.folder / SKILL).exists()
    project.run("install")
    assert (project.folder / SKILL).exists()


def test_show_prints_what_would_be_written_and_writes_nothing(project: Project) -> None:
    before = everything_in(project.folder) | everything_in(project.home)
    text = project.run("install", "--show", "--allow-reading").out
    shown = json.loads(project.run("install", "--show", "--allow-reading", "--json").out)["files"]
    assert everything_in(project.folder) | everything_in(project.home) == before
    assert text.endswith("nothing was written\n")
    project.run("install", "--allow-reading")
    for path, content in shown.items():
        assert Path(path).read_text(encoding="utf-8") == content
        assert f"would write {path}:\n{content.rstrip()}\n" in text
    written = {str(path) for path in everything_in(project.folder / ".claude") if path.is_file()}
    assert written == set(shown)


def test_a_skill_of_the_users_own_is_never_overwritten(project: Project) -> None:
    path = project.folder / SKILL
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    done = project.run("install")
    assert (done.code, path.read_text(encoding="utf-8")) == (0, "mine")
    assert f"the skill {path} is left alone: a file of that name exists" in done.err
    project.at_terminal("uninstall", "--purge")
    assert path.read_text(encoding="utf-8") == "mine"


def test_a_skill_that_the_user_changed_is_kept_and_named(project: Project) -> None:
    project.run("install")
    path = project.folder / SKILL
    path.write_text(path.read_text(encoding="utf-8").replace("Session memory", "Our memory"), encoding="utf-8")
    changed = path.read_text(encoding="utf-8")
    assert "you changed it" in project.run("install").err
    done = project.at_terminal("uninstall", "--purge")
    assert f"{path} stays: you changed it" in done.err
    assert path.read_text(encoding="utf-8") == changed


@pytest.mark.parametrize("linked", ["SKILL.md", "skills"])
def test_no_skill_is_written_through_a_link_that_the_project_made(
    project: Project, tmp_path: Path, linked: str
) -> None:
    elsewhere, path = tmp_path / "elsewhere", project.folder / SKILL
    link = next(one for one in (path, *path.parents) if one.name == linked)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    if linked != "SKILL.md":
        elsewhere.mkdir()
    done = project.run("install")
    assert done.code == 0
    assert f"the skill {path} is left alone: it " in done.err
    assert not elsewhere.exists() or not list(elsewhere.iterdir())
    assert link.is_symlink()


def test_the_agent_has_the_skill_once(project: Project) -> None:
    project.run("install", "--scope", "user")
    done = project.run("install")
    assert "the skill session-memory is that of the scope user" in done.err
    assert not (project.folder / SKILL).exists()
    project.run("uninstall", "--scope", "user")
    project.run("install")
    assert (project.folder / SKILL).exists()
    user = project.home / ".claude" / "settings.json"
    user.write_text('{"enabledPlugins": {"unified-state@unified-state": true}}', encoding="utf-8")
    assert "the skill session-memory is that of the plugin" in project.run("install").err
    assert not (project.folder / SKILL).exists()


@pytest.mark.parametrize("place", ["uv/archive-v0/x", "pipx/x"])
def test_install_from_a_temporary_environment_refuses_and_says_how_to_install_durably(
    project: Project, tmp_path: Path, place: str
) -> None:
    cache = tmp_path / ".cache" / place.split("/", maxsplit=1)[0]
    environment = tmp_path / ".cache" / place
    environment.parent.mkdir(parents=True)
    if "uv" in place:
        (cache / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55", encoding="ascii")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(environment)], check=True)
    site = next((environment / "lib").glob("python3*")) / "site-packages"
    (site / "ours.pth").write_text("\n".join(path for path in sys.path if path), encoding="utf-8")
    before = everything_in(project.folder) | everything_in(project.home)
    done = project.execute([str(environment / "bin" / "python"), *PROGRAM[1:], "install"], "", {})
    assert done.code == 2
    assert f"this program runs from a cache, {cache}," in done.err
    assert "uv tool install ./dist/unified_state-" in done.err
    assert everything_in(project.folder) | everything_in(project.home) == before


def test_every_installed_hook_runs_as_it_is_written(project: Project) -> None:
    project.run("install", "--lean", "middle", "--reminders", "on")
    project.run("constraint", "add", "No pushes", "--source", "the user", "--scope", "command:git push")
    groups = json.loads((project.folder / SETTINGS).read_text(encoding="utf-8"))["hooks"]
    handlers = [(event, hook) for event, entries in groups.items() for group in entries for hook in group["hooks"]]
    commands = [" ".join([hook["command"], *hook["args"]]) for _, hook in handlers]
    assert max(map(len, commands)) < 100 + len(sys.prefix)
    assert len(set(commands)) == len(commands) - 1  # the hook before tool calls is at two events
    for event, hook in handlers:
        given = project.event(event, session_id="s", transcript_path="", tool_name="Bash", tool_input={"command": "ls"})
        done = project.execute([hook["command"], *hook["args"]], given, {})
        assert (done.code, done.err, project.log()) == (0, "", ""), (event, hook)
