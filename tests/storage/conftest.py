from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from unified_state.storage.archive import Archive


@pytest.fixture
def archive_path(tmp_path: Path) -> str:
    """Where an archive can be made."""
    return str(tmp_path / "data" / "archive.db")


@pytest.fixture
def archive(archive_path: str) -> Iterator[Archive]:
    """A new archive."""
    with Archive(archive_path) as opened:
        yield opened
