"""A world for each test, with another host in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.sandboxed.requirement import give_up
from tests.sandboxed.sandbox import unavailable

from .codex import Codex
from .driver import Driver
from .gemini import Gemini
from .opencode import Opencode
from .world import PACKAGES, HostWorld


@pytest.fixture(scope="session")
def packages() -> Path:
    """Where the hosts' packages lie."""
    if reason := unavailable() or ("" if PACKAGES.is_dir() else "no other hosts: make .venv/other-hosts/installed"):
        give_up(reason)
    return PACKAGES


@pytest.fixture
def world(packages: Path) -> Iterator[HostWorld]:
    """A world of the test's own, in `/tmp`: Codex lets its commands write there, and nowhere else outside a project."""
    with (
        TemporaryDirectory(prefix="unified-state-test-", dir="/tmp") as folder,
        HostWorld(Path(folder) / "world") as made,
    ):
        yield made


@pytest.fixture
def codex(world: HostWorld, packages: Path) -> Codex:
    """Codex, our hooks in its project."""
    world.product("install", "--host", "codex")
    return Codex(world, packages)


@pytest.fixture
def gemini(world: HostWorld, packages: Path) -> Gemini:
    """Gemini CLI, our hooks in its project."""
    world.product("install", "--host", "gemini")
    return Gemini(world, packages)


@pytest.fixture
def opencode(world: HostWorld, packages: Path) -> Opencode:
    """opencode, our program among its plugins."""
    world.product("install", "--host", "opencode")
    return Opencode(world, packages)


@pytest.fixture(params=["codex", "gemini", "opencode"])
def host(request: pytest.FixtureRequest) -> Driver:
    """Each of them."""
    driver: Driver = request.getfixturevalue(request.param)
    return driver
