from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.builders import SESSION
from unified_state.archive.archive import Archive
from unified_state.errors import ArchiveUnavailableError, DamagedFileError, SettingError
from unified_state.ledger.record_item import Author
from unified_state.project.place import locate
from unified_state.project.workspace.workspace import Workspace, open_workspace
from unified_state.settings import Settings

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_an_archive_of_another_repository_is_refused(
    workspace: Workspace, settings: Settings, reports: list[str], tmp_path: Path
) -> None:
    workspace.use(lambda archive: archive.set_meta("a", "b"))
    (tmp_path / "other").mkdir()
    other = Workspace(locate(str(tmp_path / "other"), settings.data_dir, create=True), settings, report=reports.append)
    shutil.copy(workspace.place.archive_path, other.place.archive_path)
    with pytest.raises(ArchiveUnavailableError, match="the archive is another repository's"):
        other.use(lambda archive: archive.meta("a"))


def test_damage_that_an_action_meets_makes_it_begin_anew(workspace: Workspace, reports: list[str]) -> None:
    def fill(archive: Archive) -> None:
        archive.set_meta("a", "b" * 200_000)

    workspace.use(fill)
    path = Path(workspace.place.archive_path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    path.write_bytes(content)
    workspace.use(lambda archive: archive.rows("SELECT * FROM meta"))
    assert len(reports) == 1


def test_an_action_that_is_told_of_another_damaged_file_runs_once(workspace: Workspace) -> None:
    """The archive is healthy, so nothing would be better the second time, and what was recorded would be so twice."""
    runs = []

    def action(_archive: Archive) -> None:
        runs.append(1)
        message = "the token vocabulary is damaged"
        raise DamagedFileError(message)

    with pytest.raises(DamagedFileError, match="vocabulary"):
        workspace.use(action)
    assert len(runs) == 1


def test_an_author_says_who_it_is_and_where_head_is(repository: Path, settings: Settings, data_dir: Path) -> None:
    place = locate(str(repository), str(data_dir), create=True)
    workspace = Workspace(place, settings, report=lambda _line: None, session_id="s", origin="user_said")
    author = workspace.author()
    assert author == Author(
        origin="user_said", session_id="s", commit=author.commit, branch="main", worktree=str(repository)
    )
    assert len(str(author.commit)) == 40


def test_secrets_are_masked_also_where_there_is_no_writable_home(
    project: Path, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    settings.data_dir = str(tmp_path / "file")
    place = locate(str(project), settings.data_dir, create=True)
    workspace = Workspace(place, settings, report=lambda _line: None)
    assert workspace.masker.text(SECRET).startswith("[MASKED github-token ")


def opened(folder: Path, session_id: str | None = None, *, create: bool = True) -> Workspace:
    return open_workspace(str(folder), session_id, report=lambda _line: None, create=create)


def test_the_workspace_of_a_folder_has_the_settings_in_force_there(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "unified-state.toml").write_text("budget_max = 1500\n")
    (project / "below").mkdir()
    assert opened(project).settings.budget_max == 1500
    assert opened(project / "below").settings.budget_max != 1500


def test_a_setting_that_cannot_be_used_is_an_error_that_names_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNIFIED_STATE_BUDGET_MAX", "lots")
    with pytest.raises(SettingError, match=r"\$UNIFIED_STATE_BUDGET_MAX: budget_max takes .*; `unified-state config`"):
        opened(project)


@pytest.mark.parametrize(("given", "found"), [(None, SESSION), ("mine", "mine"), ("", SESSION)])
def test_the_session_is_that_of_the_client_that_started_the_process(
    project: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, found: str
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    assert opened(project, given).session_id == found
