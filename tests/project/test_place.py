from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from unified_state.project.place import NAME, Place, locate

Git = Callable[..., str]


def located(folder: Path, data_dir: Path, *, create: bool = True) -> Place:
    return locate(str(folder), str(data_dir), create=create)


def test_the_archive_lies_in_the_data_folder_and_the_state_file_in_the_worktree(
    repository: Path, data_dir: Path
) -> None:
    place = located(repository, data_dir)
    assert place.archive_path == str(data_dir / "repositories" / str(place.id) / "archive.db")
    assert place.state_path == str(repository / ".claude" / NAME)
    assert os.path.dirname(place.digest_path) == place.folder


def test_its_folder_is_private_and_so_are_those_above(project: Path, data_dir: Path) -> None:
    place = located(project, data_dir / "a")
    for folder in (data_dir, data_dir / "a", data_dir / "a" / "repositories", Path(place.folder)):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_no_folder_is_made_where_a_worktree_names_a_common_folder_that_is_missing(
    project: Path, data_dir: Path
) -> None:
    (project / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    (project / "elsewhere").mkdir()
    (project / "elsewhere" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (project / "elsewhere" / "commondir").write_text("..\n-", encoding="utf-8")
    place = located(project, data_dir)
    assert place.repository.common_dir == str(project / "elsewhere")
    assert sorted(path.name for path in project.iterdir()) == [".git", "elsewhere"]


def test_looking_makes_nothing(project: Path, data_dir: Path) -> None:
    place = located(project, data_dir, create=False)
    assert place.id is None
    assert not data_dir.exists()
    assert list(project.iterdir()) == []


def test_where_there_is_no_home_the_archive_lies_beside_the_state_file(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for create in (True, False):
        place = located(project, tmp_path / "file", create=create)
        assert place.archive_path == str(project / ".claude" / "unified-state" / "archive.db")
    assert Path(place.folder).stat().st_mode & 0o777 == 0o700


def test_an_archive_that_came_with_a_repository_is_not_read(project: Path, data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    came = located(project, tmp_path / "file")
    Path(came.archive_path).touch()
    for create in (False, True):
        assert located(project, data_dir, create=create).folder.startswith(str(data_dir))
