"""The client itself for benchmarks: in a world of its own that is gone afterwards."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real_client.scenario import OLD_MODEL, Scenario, find_client
from tests.sandboxed.sandbox import unavailable


def needed_client() -> Path:
    """The client's binary; without one, or a sandbox for it, the benchmark ends and says why."""
    client = find_client()
    if problem := unavailable():
        sys.exit(problem)
    if client is None:
        sys.exit("no real client: make .venv/real-client")
    return client


@contextmanager
def temporary_scenario(client: Path, model: str = OLD_MODEL) -> Iterator[Scenario]:
    """A world with the client in it."""
    with (
        tempfile.TemporaryDirectory(prefix="unified-state-") as folder,
        Scenario(Path(folder) / "w", client, model) as scenario,
    ):
        yield scenario
