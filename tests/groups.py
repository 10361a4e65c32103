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
    "faults": "process",
    "interfaces": "process",
    "other_hosts": "client",
    "plugin": "process",
    "real_client": "client",
    "extras/blame/test_hostile_repositories.py": "process",
    "structure/test_flaky.py": "process",
    "structure/test_hermetic.py": "process",
    "structure/test_start_up.py": "process",
    "structure/test_wheel.py": "process",
    "extras/team": "server",
    "extras/viewer": "process",
    "extras/handover/test_hostile_worktrees.py": "process",
    "test_extension.py": "process",
}
# What `make stress` runs and `make test` leaves out: what repeats one thing at hundreds of points, in large, elsewhere,
# or with programs of the developers. By subject: whoever changes one runs its part.
STRESS = {
    "kills": (
        "acceptance/test_killed.py",
        "acceptance/test_killed_turns.py",
        "acceptance/test_killed_upkeep.py",
        "acceptance/test_hung_writer.py",
        "acceptance/test_no_hang.py",
        "acceptance/test_refusing_server.py",
        "extras/team/postgres/test_server_ends.py",
    ),
    "damage": (
        "acceptance/test_damage_of_any_byte.py",
        "acceptance/test_damaged_archive.py",
        "acceptance/test_damaged_state_file.py",
        "acceptance/test_hostile_disk.py",
    ),
    "size": (
        "acceptance/test_forgetting_at_scale.py",
        "acceptance/test_long_lines.py",
        "acceptance/test_pruning.py",
        "extras/viewer/test_large_and_odd.py",
        "project/git/test_git_limits.py",
    ),
    "places": (
        "acceptance/test_other_platforms.py",
        "acceptance/test_wheel_install.py",
        "docs/test_elsewhere.py",
        "extras/team/postgres/test_citus.py",
    ),
    "stores": (
        "contracts/test_transfer.py",
        "extras/team/postgres/test_hostile_member.py",
        "extras/team/postgres/test_replicas.py",
    ),
    "inputs": ("campaign",),
    "programs": ("benchmarks", "evaluation"),
}
# What the README promises, in the client itself: `.ci/run` runs these files of `make real-client`, in which the others
# follow one subject further.
PROMISED = (
    "real_client/test_main_job.py",
    "real_client/test_product_archive.py",
    "real_client/test_product_command.py",
    "real_client/test_product_compaction.py",
    "real_client/test_product_constraints.py",
    "real_client/test_product_crash.py",
    "real_client/test_product_folders.py",
    "real_client/test_product_install.py",
    "real_client/test_product_mcp.py",
    "real_client/test_product_rules.py",
    "real_client/test_product_starts.py",
    "real_client/test_product_together.py",
    "real_client/test_recording.py",
    "real_client/test_sandbox.py",
)
# A test of durability, locks, trust, masking or the gate that fails once has failed: it is not tried again.
NEVER_AGAIN = (
    "acceptance/test_cloned_repositories.py",
    "acceptance/test_core_memory.py",
    "acceptance/test_damage",
    "acceptance/test_foreign_state.py",
    "acceptance/test_forget",
    "acceptance/test_gate.py",
    "acceptance/test_hostile",
    "acceptance/test_killed",
    "acceptance/test_many_writers.py",
    "acceptance/test_nothing_is_lost.py",
    "acceptance/test_quiet_gate.py",
    "acceptance/test_secrets_everywhere.py",
    "constraints/",
    "lib/test_files.py",
    "ledger/",
    "hosts/test_generation",
    "secrets/",
    "state_file/",
    "state_file/writer/",
)
# These take more than five seconds of one core.
SLOW = {
    "acceptance/test_forgetting_at_scale.py",
    "acceptance/test_killed.py",
    "acceptance/test_killed_turns.py",
    "acceptance/test_killed_upkeep.py",
    "acceptance/test_long_lines.py",
    "acceptance/test_rules_come_back.py",
    "acceptance/test_typed_api.py",
    "benchmarks/test_scale_commands.py",
    "evaluation/test_dry_run.py",
    "restore/test_preview.py",
    "extras/vectors/test_minilm.py",
    "extras/vectors/test_nearest_vectors.py",
}
# These wait for more than ten seconds.
WAITING = {
    "acceptance/test_hung_writer.py",
    "acceptance/test_no_hang.py",
    "acceptance/test_refusing_server.py",
    "extras/team/postgres/test_hostile_member.py",
}


def markers_of(place: str) -> list[str]:
    """The markers of the tests of a file, by its path in `tests`."""
    folders = [folder for folder in MARKERS if place == folder or place.startswith(f"{folder}/")]
    found = [MARKERS[max(folders, key=len)]] if folders else []
    parts = [part for part, places in STRESS.items() if any(f"{place}/".startswith(f"{one}/") for one in places)]
    named = {"slow": SLOW, "promised": PROMISED}
    found += [name for name, places in named.items() if place in places]
    return [*found, *(["stress", *parts] if parts else [])]


def comes_first(item: pytest.Item) -> bool:
    """Whether a test begins early, so that at the end no worker is left alone with it."""
    return item.path.relative_to(_TESTS).as_posix() in SLOW | WAITING


def mark(item: pytest.Item) -> None:
    """Mark a test by its file, and as `server` if it asks for the PostgreSQL server."""
    for marker in markers_of(item.path.relative_to(_TESTS).as_posix()):
        item.add_marker(marker)
    if "postgres" in getattr(item, "fixturenames", ()):
        item.add_marker("server")
