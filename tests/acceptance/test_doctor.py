"""`doctor` tells who runs the hooks, with which program, and where two versions of us meet."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.builders import entry, prompt, write_transcript
from unified_state import __version__
from unified_state.hosts.install.hook_launcher import launcher_text
from unified_state.lib.files import UNFINISHED
from unified_state.lib.package import PACKAGE_ROOT

from .product import Project
from .transcripts import Transcript

OTHER = "9.8.7"
ENABLED = {"enabledPlugins": {"unified-state@unified-state": True}}


@pytest.fixture
def checks(project: Project) -> Callable[..., dict[str, Any]]:
    """The checks of `doctor` by name."""

    def run(**environment: str) -> dict[str, Any]:
        done = project.run("doctor", "--json", **environment)
        found = {check["name"]: check for check in json.loads(done.out)}
        assert done.code == (0 if all(check["ok"] for check in found.values()) else 1)
        return found

    return run


def enable_plugin(project: Project, root: str | Path | None = PACKAGE_ROOT, settings: Any = ENABLED) -> None:
    """The plugin as the client installs it for the user, and what it found."""
    folder = project.home / ".claude"
    data = folder / "plugins" / "data" / "unified-state-unified-state"
    data.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps(settings))
    if root is not None:
        (data / "program").write_text(f"{sys.executable}\n{root}\n\n")


def test_without_any_hooks_it_says_so(checks: Callable[..., dict[str, Any]]) -> None:
    assert checks()["hooks"]["message"] == "not installed"


def test_the_plugin_alone_runs_the_hooks(project: Project, checks: Callable[..., dict[str, Any]]) -> None:
    enable_plugin(project)
    found = checks()
    assert found["plugin"]["message"] == f"enabled, and runs the hooks; it starts {PACKAGE_ROOT}"
    assert all(check["ok"] for check in found.values())
    assert "hooks" not in found


def test_beside_install_the_plugin_leaves_the_work_to_it(
    project: Project, checks: Callable[..., dict[str, Any]]
) -> None:
    enable_plugin(project)
    assert project.run("install").code == 0
    found = checks()
    assert found["plugin"]["message"].startswith("enabled, and leaves the work to the hooks (local); it starts ")
    assert found["hooks (local)"]["ok"]


@pytest.mark.parametrize("damage", ["gone", "not executable", "its interpreter is gone"])
def test_a_launcher_that_does_not_start_is_told(
    project: Project, checks: Callable[..., dict[str, Any]], tmp_path: Path, damage: str
) -> None:
    assert project.run("install").code == 0
    path, other = project.folder / ".claude" / "settings.local.json", tmp_path / "unified-state-hook"
    path.write_text(path.read_text().replace(str(Path(sys.executable).with_name(other.name)), str(other)))
    if damage != "gone":
        interpreter = tmp_path / "python"
        interpreter.symlink_to(sys.executable)
        other.write_bytes(launcher_text(str(interpreter), PACKAGE_ROOT))
        other.chmod(0o644 if damage == "not executable" else 0o755)
        interpreter.unlink()
    assert checks()["hooks (local)"]["message"] == f"{other} in {path} is no program any more"


def test_what_install_does_not_write_is_told_and_not_started(
    project: Project, checks: Callable[..., dict[str, Any]]
) -> None:
    assert project.run("install").code == 0
    path, other = project.folder / ".claude" / "settings.local.json", project.folder / "unified-state-hook"
    other.write_text(f"#!{sys.executable} -IS\nopen({str(project.folder / 'ran')!r}, 'w')\n")
    other.chmod(0o755)
    path.write_text(path.read_text().replace(str(Path(sys.executable).with_name(other.name)), str(other)))
    assert checks()["hooks (local)"]["message"] == f"the hooks in {path} call what `install` does not write"
    assert not (project.folder / "ran").exists()


@pytest.mark.parametrize("found", [OTHER, ""])
def test_hooks_of_another_version_are_told(
    project: Project, checks: Callable[..., dict[str, Any]], tmp_path: Path, found: str
) -> None:
    assert project.run("install").code == 0
    path, other = project.folder / ".claude" / "settings.local.json", tmp_path / "unified-state-hook"
    path.write_text(path.read_text().replace(str(Path(sys.executable).with_name(other.name)), str(other)))
    other.write_bytes(launcher_text(sys.executable, str(tmp_path)))
    other.chmod(0o755)
    if found:
        package = tmp_path / "unified_state" / "lib" / "package.py"
        package.parent.mkdir(parents=True)
        package.write_text(f'__version__ = "{OTHER}"\n')
    expected = f"run unified-state {OTHER}, this is {__version__}" if found else "has no unified-state any more"
    assert checks()["hooks (local)"]["message"].endswith(expected)


def test_a_data_folder_that_was_moved_after_the_installation_is_told(
    project: Project, checks: Callable[..., dict[str, Any]], write_settings: Callable[[str], None], tmp_path: Path
) -> None:
    assert project.run("install").code == 0
    write_settings(f'data_dir = "{tmp_path / "elsewhere"}"\n')
    found = checks()["hooks (local)"]
    assert not found["ok"]
    assert found["message"].endswith(f"archive in {project.data}, but commands look in {tmp_path / 'elsewhere'}")
    assert project.run("install").code == 0
    assert checks()["hooks (local)"]["ok"]


def test_a_large_archive_is_read_to_its_end_where_the_user_asks_for_it(begun: Project) -> None:
    with closing(sqlite3.connect(begun.archive)) as archive:
        archive.execute("INSERT INTO meta VALUES ('padding', ?)", ["x" * 33 * 1024 * 1024])
        archive.commit()
        (page,) = archive.execute("SELECT rootpage FROM sqlite_master WHERE name = 'turn_by_session'").fetchone()
    assert archive_check(begun)["message"].startswith("opens as it should, not read to its end (`--full` does)")
    assert archive_check(begun, "--full")["message"].startswith("whole, ")
    raw = bytearray(begun.archive.read_bytes())
    raw[page * 4096 - 1] ^= 0x10  # in the last entry of that index
    begun.archive.write_bytes(raw)
    assert archive_check(begun)["ok"] is True
    assert archive_check(begun, "--full")["ok"] is False
    assert begun.archive.read_bytes() == bytes(raw)  # it is set aside where it is used


def test_files_that_killed_processes_left_are_named_and_removed_where_the_user_wants_it(begun: Project) -> None:
    state, own = begun.folder / ".claude", begun.archive.parent / f"archive.db.7.0a1b2c3d{UNFINISHED}"
    ours = [own, state / f"unified-session-state.json.7.0a1b2c3d{UNFINISHED}"]
    others = [state / f"notes.json{UNFINISHED}", begun.archive.parent / f"new.7.0a1b2c3d{UNFINISHED}"]
    for path in (*ours, *others):
        path.touch()
    for path in (*ours, others[0]):
        os.utime(path, (1, 1))
    found = json.loads(begun.run("doctor", "--json").out)
    (told,) = (check for check in found if check["name"] == "left over")
    assert (told["ok"], told["hint"]) == (False, "`unified-state doctor --fix` removes them")
    assert all(str(path) in told["message"] for path in ours)
    assert "removed 2 files" in begun.run("doctor", "--fix").out
    assert [path.exists() for path in (*ours, *others)] == [False, False, True, True]
    assert "left over" not in begun.run("doctor").out


def test_a_damaged_text_is_named(begun: Project, tmp_path: Path) -> None:
    written = Transcript("s", cwd=str(begun.folder))
    for number in range(20):
        written.turn(number, size=700)
    assert begun.run("import", str(written.write(tmp_path / "s.jsonl"))).code == 0
    assert archive_check(begun, "--full")["ok"] is True
    with closing(sqlite3.connect(begun.archive)) as archive, archive:
        packed = "SELECT id, body FROM step WHERE typeof(body) = 'blob' LIMIT 1 OFFSET 3"
        number, body = archive.execute(packed).fetchone()
        changed = body[:50] + bytes([body[50] ^ 1]) + body[51:]
        archive.execute("UPDATE step SET body = ? WHERE id = ?", (changed, number))
    told = archive_check(begun)  # reads a small archive whole
    assert (told["ok"], f"S{number}" in told["message"]) == (False, True)
    assert begun.run("show", f"S{number + 20}").code == 0
    assert "[damaged in the archive]" in begun.run("show", f"S{number}").out


def archive_check(project: Project, *options: str) -> dict[str, Any]:
    """What `doctor` says of the archive."""
    checks = json.loads(project.run("doctor", "--json", *options).out)
    return next(check for check in checks if check["name"] == "archive")


def test_doctor_counts_what_a_newer_client_wrote(
    project: Project, checks: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    news = [entry(number, "attachment", attachment={"type": "beacon", "text": "CI is red"}) for number in (2, 3)]
    project.run("import", str(write_transcript(tmp_path / "t.jsonl", prompt(1, "go"), *news)))
    told = "attachment beacon (2): the client is newer than this version; the text is archived"
    assert checks()["unknown kind"]["message"] == told
