from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError, UsageError
from unified_state.project.identity import remember, remote_of
from unified_state.project.place import Place, locate
from unified_state.project.workspace.link import candidates, link

URL = "https://example.org/team/shop.git"
Clone = Callable[..., Place]


@pytest.fixture
def clone(tmp_path: Path, data_dir: Path) -> Clone:
    """Make a repository with a remote, and record something in it."""

    def make(name: str, url: str = URL, *, recorded: bool = True) -> Place:
        folder = tmp_path / name
        folder.mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
        if url:
            subprocess.run(["git", "remote", "add", "origin", url], cwd=folder, check=True)
        place = locate(str(folder), str(data_dir), create=True)
        if recorded:
            with Archive(place.archive_path):
                remember(place.repository, place.folder)
        return place

    return make


def test_a_clone_is_offered_the_archive_of_another_one(clone: Clone, data_dir: Path) -> None:
    first = clone("first")
    (found,) = candidates(clone("second"), str(data_dir))
    assert (found.id, found.worktree) == (first.id, first.repository.worktree)
    assert found.archive_bytes > 0


def test_repositories_of_other_remotes_are_not_offered(clone: Clone, data_dir: Path) -> None:
    clone("first", "https://example.org/team/other.git")
    clone("without", "")
    assert candidates(clone("second"), str(data_dir)) == []
    assert candidates(clone("third", ""), str(data_dir)) == []


@pytest.mark.parametrize(
    "told",
    ["", "[]", "{}", '{"checkouts": 5}', '{"checkouts": {"/a": 5}}', '{"checkouts": {"/a": {"remote": 5}}}'],
)
def test_archives_of_which_nothing_is_known_are_not_offered(clone: Clone, data_dir: Path, told: str) -> None:
    place = clone("first")
    (Path(place.folder) / "about.json").write_text(told)
    clone("empty", recorded=False)
    (data_dir / "repositories" / "notes.txt").touch()
    assert candidates(clone("second"), str(data_dir)) == []


def test_a_linked_clone_uses_the_other_archive_from_then_on(clone: Clone, data_dir: Path) -> None:
    first, second = clone("first"), clone("second")
    joined = link(second, str(data_dir), str(first.id))
    assert joined.id == first.id
    assert locate(second.repository.worktree, str(data_dir), create=True).archive_path == first.archive_path
    assert locate(first.repository.worktree, str(data_dir), create=True).archive_path == first.archive_path


def test_an_archive_that_is_not_there_cannot_be_joined(clone: Clone, data_dir: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no archive 0123456789abcdef; `unified-state config link` lists"):
        link(clone("first"), str(data_dir), "0123456789abcdef")


@pytest.mark.parametrize("wanted", ["", "../elsewhere", "a b"])
def test_what_is_no_id_is_refused(clone: Clone, data_dir: Path, wanted: str) -> None:
    with pytest.raises(UsageError, match="is not the id of an archive"):
        link(clone("first"), str(data_dir), wanted)


def test_outside_git_a_folder_can_be_linked_too(clone: Clone, project: Path, data_dir: Path) -> None:
    first = clone("first")
    link(locate(str(project), str(data_dir), create=True), str(data_dir), str(first.id))
    assert locate(str(project), str(data_dir), create=False).archive_path == first.archive_path


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, URL),
        ("https://user:secret@example.org/team/shop.git", URL),
        ("ssh://git@example.org/team/shop.git", "ssh://example.org/team/shop.git"),
        ("git@example.org:team/shop.git", "git@example.org:team/shop.git"),
        ("https://example.org/@team/shop.git", "https://example.org/@team/shop.git"),
        ("/srv/git/shop.git", "/srv/git/shop.git"),
    ],
)
def test_a_remote_is_known_without_the_password_in_it(clone: Clone, url: str, shown: str) -> None:
    assert remote_of(clone("first", url).repository) == shown
