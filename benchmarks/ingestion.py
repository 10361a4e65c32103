"""The first `ingest` of a large transcript: time, memory and the size of the archive, as a whole process.

    python benchmarks/ingestion.py [--messages N] [TRANSCRIPT|FOLDER …]

Targets: at most 6 s per 100 MB and 60 MiB of memory; the archive with its index at most 0.22 of the transcripts (name
real ones). A node -e 0 runs beside it, so that the time can be compared between
machines.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.arguments import described
from benchmarks.generated import write_transcript
from benchmarks.side_by_side import clean_environment, node

PROGRAM = str(Path(sys.prefix) / "bin" / "unified-state")


def measure(name: str, paths: list[str], folder: Path) -> None:
    """Ingest into an empty archive and print a row."""
    home, project = folder / "home", folder / "project"
    home.mkdir(parents=True)
    project.mkdir()
    environment = clean_environment(HOME=str(home))
    subprocess.run(["git", "init", "--quiet"], cwd=project, env=environment, check=True)
    size = sum(os.path.getsize(path) for path in paths)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    begin = time.perf_counter()
    subprocess.run([PROGRAM, "import", *paths], cwd=project, env=environment, check=True, capture_output=True)
    seconds = time.perf_counter() - begin
    peak = max(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, before) / 1024
    (archive,) = home.glob(".local/share/unified-state/repositories/*/archive.db")
    ratio = archive.stat().st_size / size
    yardstick = node()
    for _ in range(5):
        yardstick.run()
    in_nodes = seconds / statistics.median(yardstick.seconds)
    print(f"{name:<28} {size / 1e6:8.1f} MB  {seconds:6.2f} s  {seconds / size * 1e8:5.2f} s/100 MB", end="")
    print(f"  {in_nodes:7.0f} x node -e 0  {peak:6.1f} MiB  archive {ratio:.3f} of it")


def main() -> None:
    """Measure a generated transcript, and those that are named."""
    parser = described(__doc__)
    parser.add_argument("paths", nargs="*", metavar="TRANSCRIPT|FOLDER")
    parser.add_argument("--messages", type=int, default=50_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generated = folder / "generated.jsonl"
        write_transcript(generated, options.messages, "11111111-2222-4333-8444-555555555555")
        measure(f"generated, {options.messages:,} messages", [str(generated)], folder / "generated")
        if options.paths:
            found = [
                p for path in map(Path, options.paths) for p in (path.glob("*.jsonl") if path.is_dir() else [path])
            ]
            measure("named transcripts", [str(path) for path in found], folder / "named")


if __name__ == "__main__":
    main()
