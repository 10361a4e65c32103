"""A world for each test, with another host in it.

Where a host or the sandbox cannot be had, the tests skip and say why; with UNIFIED_STATE_REQUIRE_REAL_CLIENT=1, as in
continuous integration, that is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_client.sandbox import unavailable

from .world import PACKAGES, World


@pytest.fixture(scope="session")
def packages() -> Path:
    """Where the hosts' packages lie."""
    reason = unavailable() or ("" if PACKAGES.is_dir() else "no other hosts: make .venv/other-hosts/installed")
    if reason and os.environ.get("UNIFIED_STATE_REQUIRE_REAL_CLIENT") == "1":
        pytest.fail(reason)
    elif reason:
        pytest.skip(reason)
    return PACKAGES


@pytest.fixture
def world(tmp_path: Path, packages: Path) -> Iterator[World]:
    """A world of the test's own."""
    with World(tmp_path / "world") as made:
        yield made
