"""A world for each test, with another host in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandboxed.requirement import give_up
from tests.sandboxed.sandbox import unavailable

from .world import PACKAGES, HostWorld


@pytest.fixture(scope="session")
def packages() -> Path:
    """Where the hosts' packages lie."""
    if reason := unavailable() or ("" if PACKAGES.is_dir() else "no other hosts: make .venv/other-hosts/installed"):
        give_up(reason)
    return PACKAGES


@pytest.fixture
def world(tmp_path: Path, packages: Path) -> Iterator[HostWorld]:
    """A world of the test's own."""
    with HostWorld(tmp_path / "world") as made:
        yield made
