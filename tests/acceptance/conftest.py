"""For the acceptance tests: a repository with the product in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.memory_disk import memory_disk
from tests.passwd import need_own_passwd, set_home

from .product import Project
from .transcripts import Transcript


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder that is gone when the test has ended: these tests fill it."""
    with TemporaryDirectory(prefix="unified-state-test-", dir=memory_disk()) as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def home(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty home of all tests, beside the project."""
    folder = tmp_path / "home"
    shutil.copytree(home, folder)
    monkeypatch.setenv("HOME", str(folder))
    set_home(folder)
    return folder


@pytest.fixture
def project(repository: Path, home: Path) -> Project:
    """A git repository in which nothing is recorded yet."""
    return Project(repository, home)


@pytest.fixture
def begun(project: Project, tmp_path: Path) -> Project:
    """A project with a session of one prompt, and a decision."""
    written = Transcript("s")
    written.prompt("hello")
    project.keep(written, tmp_path / "s.jsonl")
    project.decide("use SQLite")
    return project


@pytest.fixture
def write_settings(home: Path) -> Callable[[str], None]:
    """Writes the user's own settings file, in the home that is theirs by the password database."""
    need_own_passwd()

    def write(text: str) -> None:
        path = home / ".config" / "unified-state" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="latin-1")

    return write
