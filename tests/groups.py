"""What a test needs, by the folder it is in. `make check` leaves out all that have a marker.

A test that starts one process of its own (git, mostly) stays unmarked; the folders named here start one at every step.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_TESTS = Path(__file__).parent
# The longest path that fits decides.
MARKERS = {
    "acceptance": "process",
    "benchmarks": "process",
    "campaign": "process",
    "contracts": "server",
    "docs": "process",
    "evaluation": "process",
    "interfaces": "process",
    "other_hosts": "client",
    "plugin": "process",
    "real_client": "client",
    "search/blame/test_hostile_repositories.py": "process",
    "search/test_in_parallel.py": "process",
    "structure/test_journeys.py": "process",
    "structure/test_start_up.py": "process",
    "structure/test_wheel.py": "process",
    "team": "server",
    "upkeep/handover/test_hostile_worktrees.py": "process",
}
# These take more than five seconds of one core.
SLOW = {
    "acceptance/test_forgetting_at_scale.py",
    "acceptance/test_killed.py",
    "acceptance/test_killed_turns.py",
    "acceptance/test_killed_upkeep.py",
    "acceptance/test_long_lines.py",
    "acceptance/test_rules_come_back.py",
    "acceptance/test_typed_api.py",
    "benchmarks/test_outbox.py",
    "benchmarks/test_scale.py",
    "benchmarks/test_scale_commands.py",
    "evaluation/test_dry_run.py",
    "restore/test_preview.py",
    "search/vectors/models/test_minilm.py",
    "search/vectors/test_nearest_vectors.py",
}
# These wait for more than ten seconds.
WAITING = {
    "acceptance/test_hung_writer.py",
    "acceptance/test_no_hang.py",
    "acceptance/test_refusing_server.py",
    "team/postgres/test_citus.py",
    "team/postgres/test_hostile_member.py",
}


def markers_of(place: str) -> list[str]:
    """The markers of the tests of a file, by its path in `tests`."""
    folders = [folder for folder in MARKERS if place == folder or place.startswith(f"{folder}/")]
    found = [MARKERS[max(folders, key=len)]] if folders else []
    return [*found, "slow"] if place in SLOW else found


def comes_first(item: pytest.Item) -> bool:
    """Whether a test begins early, so that at the end no worker is left alone with it."""
    return item.path.relative_to(_TESTS).as_posix() in SLOW | WAITING


def mark(item: pytest.Item) -> None:
    """Mark a test by its file, and as `server` if it asks for the PostgreSQL server."""
    for marker in markers_of(item.path.relative_to(_TESTS).as_posix()):
        item.add_marker(marker)
    if "postgres" in getattr(item, "fixturenames", ()):
        item.add_marker("server")
