"""For the acceptance tests: a repository with the product in it."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.memory_disk import memory_disk
from tests.passwd import need_own_passwd, set_home

from .product import Project
from .transcripts import Transcript

Fill = Callable[[Project, Path], None]
Prepared = Callable[[Fill], Project]


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


@pytest.fixture(scope="session")
def prepared_folders() -> Iterator[dict[Fill, Path]]:
    """Where the projects lie that the tests of this worker share, by what filled them. No name in a path tells what."""
    with TemporaryDirectory(prefix="unified-state-test-", dir=memory_disk()) as folder:
        numbers = count()
        yield defaultdict(lambda: Path(folder, str(next(numbers))))


@pytest.fixture
def prepared(prepared_folders: dict[Fill, Path], committed: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """Gives a project as a function fills it. A worker fills it once, and puts it back before each test, at the same
    place, since a project knows where it lies: that takes a tenth of running the program again.
    """

    def put_back(fill: Fill) -> Project:
        here = prepared_folders[fill]
        kept = here.with_name(f"{here.name}-kept")
        project = Project(here / "repository", here / "home")
        monkeypatch.setenv("HOME", str(project.home))
        set_home(project.home)
        if kept.exists():
            shutil.rmtree(here)
            shutil.copytree(kept, here, symlinks=True)
        else:
            project.home.mkdir(parents=True, mode=0o700)
            shutil.copytree(committed, project.folder)
            fill(project, here)
            shutil.copytree(here, kept, symlinks=True)
        return project

    return put_back


def fill_begun(project: Project, folder: Path) -> None:
    """A session of one prompt, and a decision."""
    written = Transcript("s")
    written.prompt("hello")
    project.keep(written, folder / "s.jsonl")
    project.decide("use SQLite")


@pytest.fixture
def begun(prepared: Prepared) -> Project:
    """A project with a session of one prompt, and a decision."""
    return prepared(fill_begun)


@pytest.fixture
def write_settings() -> Callable[[str], None]:
    """Writes the user's own settings file, in the home that is theirs by the password database."""
    need_own_passwd()

    def write(text: str) -> None:
        path = Path(os.environ["HOME"], ".config", "unified-state", "config.toml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="latin-1")

    return write
