"""The smallest set of inputs of a kind that executes every line that all of them do.

    python -m tests.campaign.minimise KIND TARGET FOLDER ...    copies it from the folders to TARGET

An input that breaks a promise is left out.
"""

from __future__ import annotations

import shutil
import sys
from hashlib import sha256
from pathlib import Path

import coverage

from tests.campaign.fuzz import temporary_world, tried
from tests.campaign.kind_table import KINDS

Lines = set[tuple[str, int]]
MOST_BYTES = 100_000  # of one kind


def executed(kind: str, paths: list[Path]) -> dict[Path, Lines]:
    """The lines of the product that each input executes, where it breaks nothing."""
    found = {}
    with temporary_world() as world:
        for path in paths:
            measured = coverage.Coverage(data_file=None, source_pkgs=["unified_state"], config_file=False)
            measured.set_option("run:disable_warnings", ["module-not-measured"])  # imported before
            measured.start()
            broken = tried(world, KINDS[kind], path.read_bytes())
            measured.stop()
            data = measured.get_data()
            if broken is None:
                found[path] = {(name, line) for name in data.measured_files() for line in data.lines(name) or ()}
    return found


def smallest(found: dict[Path, Lines]) -> list[Path]:
    """Inputs that together execute all lines, as far as there is room: each time the one that adds most."""
    chosen: list[Path] = []
    seen: Lines = set()
    left = MOST_BYTES
    while found:
        best = max(found, key=lambda path: (len(found[path] - seen), -path.stat().st_size, path.name))
        added = found.pop(best) - seen
        if not added:
            break
        if best.stat().st_size <= left:
            left -= best.stat().st_size
            seen |= added
            chosen.append(best)
    return chosen


def main(kind: str, target: Path, folders: list[Path]) -> None:
    """Write the set to the target, in place of what is there."""
    paths = [path for folder in folders for path in sorted(folder.glob("*")) if path.is_file()]
    chosen = {path.read_bytes() for path in smallest(executed(kind, paths))}
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for data in chosen:
        (target / sha256(data).hexdigest()[:12]).write_bytes(data)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), [Path(name).resolve() for name in sys.argv[3:]])
