"""A world for each test, with the real client in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandboxed.requirement import give_up
from tests.sandboxed.sandbox import unavailable

from .scenario import OLD_MODEL, Scenario, find_client


@pytest.fixture(scope="session")
def namespaces() -> None:
    """For whatever starts a sandbox."""
    if reason := unavailable():
        give_up(reason)


@pytest.fixture(scope="session")
def client(namespaces: None) -> Path:
    """The client's binary."""
    binary = find_client()
    if binary is None or not binary.exists():
        give_up("no real client: pip install claude-agent-sdk==0.2.189")
    return binary


@pytest.fixture
def model() -> str:
    """The model the client asks for; a test parametrized over `model` runs with several."""
    return OLD_MODEL


@pytest.fixture
def scenario(tmp_path: Path, client: Path, model: str) -> Iterator[Scenario]:
    """A world of the test's own."""
    with Scenario(tmp_path / "world", client, model) as world:
        yield world


@pytest.fixture(scope="session")
def tmux() -> None:
    """For tests of the interactive client."""
    if shutil.which("tmux") is None:
        give_up("no tmux for the interactive client")
