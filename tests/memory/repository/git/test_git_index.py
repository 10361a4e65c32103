"""Submodules are found in an index by a search; where that cannot tell them, it says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.memory.repository.git_filters import submodules

Git = Callable[..., str]


@pytest.fixture
def with_submodules(repository: Path, git: Git) -> Path:
    """A repository with 5,000 files and two submodules among them."""
    blob, commit = git(repository, "rev-parse", "HEAD:alpha.txt", "HEAD").split()
    entries = [f"100644 {blob}\tfolder/file{number}\n" for number in range(5000)]
    entries += [f"160000 {commit}\t{name}\n" for name in ("folder/file2500-module", "\u00fc b")]
    git(repository, "update-index", "--index-info", stdin="".join(entries).encode())
    return repository


def test_submodules_are_found_and_nothing_else(with_submodules: Path) -> None:
    found = submodules(str(with_submodules / ".git"))
    assert found is not None
    assert {"folder/file2500-module", "\u00fc b"} <= found
    assert not [path for path in found if path.startswith("folder/") and not path.endswith("module")]


def test_entries_with_further_flags_are_read(with_submodules: Path, git: Git) -> None:
    git(with_submodules, "update-index", "--skip-worktree", "folder/file2500-module")
    assert "folder/file2500-module" in (submodules(str(with_submodules / ".git")) or ())


def test_without_submodules_and_without_an_index_there_are_none(repository: Path, tmp_path: Path, git: Git) -> None:
    assert submodules(str(repository / ".git")) == set()
    git(tmp_path, "init", "--quiet", "unborn")
    assert submodules(str(tmp_path / "unborn" / ".git")) == set()


@pytest.mark.parametrize("how", [("--index-version", "4"), ("--split-index",)])
def test_an_index_that_a_search_cannot_tell_is_said_to_be_one(with_submodules: Path, git: Git, how: tuple[str]) -> None:
    git(with_submodules, "update-index", *how)
    assert submodules(str(with_submodules / ".git")) is None
