from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.builders import NOW, SESSION, Entry, append
from unified_state.services.capture import Capture
from unified_state.services.masking import Masker
from unified_state.services.place import Place, locate
from unified_state.services.workspace import Workspace
from unified_state.settings import Settings
from unified_state.storage.archive import Archive


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """The user's data folder."""
    return tmp_path / "data"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder outside git."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def place(project: Path, data_dir: Path) -> Place:
    """The place of the project."""
    return locate(str(project), str(data_dir), create=True)


@pytest.fixture
def settings(data_dir: Path) -> Settings:
    """The settings without any file."""
    settings = Settings()
    settings.data_dir = str(data_dir)
    return settings


@pytest.fixture
def reports() -> list[str]:
    """What a person was told."""
    return []


@pytest.fixture
def workspace(place: Place, settings: Settings, reports: list[str]) -> Workspace:
    """The workspace of a client's session in the project."""
    return Workspace(place, settings, report=reports.append, session_id=SESSION)


@pytest.fixture
def masker(workspace: Workspace) -> Masker:
    """The workspace's own masker."""
    return workspace.masker


@pytest.fixture
def archive(place: Place) -> Iterator[Archive]:
    """The open archive of the project."""
    with Archive(place.archive_path) as opened:
        yield opened


@pytest.fixture
def keep(archive: Archive, masker: Masker, tmp_path: Path) -> Callable[..., None]:
    """Archives more entries of a session."""

    def keep_entries(*entries: Entry, session: str = SESSION) -> None:
        path = tmp_path / f"{session}.jsonl"
        append(path, *entries)
        Capture(archive, masker, NOW, lambda: True).transcript(str(path), session, to_end=True)

    return keep_entries
