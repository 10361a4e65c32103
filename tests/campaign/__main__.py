"""The campaign: `python -m tests.campaign SECONDS` shares the time between the kinds of input and prints what it found.

Each kind has a process of its own, and as many run at once as the machine has processors. An input that reaches more
code is kept beside the checkout. A failure is tried again by a fresh process; its input is kept, and the command that
repeats it is printed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.campaign.fuzz import MEMORY, signature
from tests.campaign.kind_table import KINDS

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path(".campaign")
GRACE = 300  # seconds that a worker may take longer: for the last input, and for the corpus before the first
_RESTARTS = 5  # of a worker whose process an input ended
_STARTED = re.compile(r"INITED\s+cov: (\d+)")
_COVERED = re.compile(r"cov: (\d+)")
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s+(\d+)|^#(\d+)\s", re.MULTILINE)


class Found(NamedTuple):
    """What came of one kind."""

    kind: str
    seconds: float
    tried: int
    before: int
    covered: int
    inputs: int
    failures: list[Path]


def slug(kind: str) -> str:
    """The folder of a kind."""
    return kind.lower().replace(" ", "-")


def work(kind: str, seconds: int, folder: Path, seed: int = 0) -> Found:
    """Try inputs of a kind for some time, with a new process where an input ended one. 0 is a random seed."""
    place = folder / slug(kind)
    shutil.rmtree(place, ignore_errors=True)
    begun, tried, before, covered = time.monotonic(), 0, 0, 0
    for _ in range(_RESTARTS):
        left = round(seconds - (time.monotonic() - begun))
        if left < 1:
            break
        printed = _worker(kind, left, place, seed)
        tried += max((int(a or b) for a, b in _EXECUTED.findall(printed)), default=0)
        before = before or max((int(n) for n in _STARTED.findall(printed)), default=0)
        covered = max([covered, *(int(n) for n in _COVERED.findall(printed))])
    failures = [path for path in sorted((place / "failures").glob("*")) if path.suffix != ".why"]
    new = len(list((place / "corpus").glob("*")))
    return Found(kind, time.monotonic() - begun, tried, before, covered, new, failures)


def _worker(kind: str, seconds: int, place: Path, seed: int) -> str:
    """Run a worker; what it printed. It has ended in any case."""
    command = [sys.executable, "-m", "tests.campaign.fuzz", kind, "--seconds", str(seconds), "--found", str(place)]
    command += ["--seed", str(seed)]
    place.mkdir(parents=True, exist_ok=True)
    with (place / "log").open("ab+") as log, TemporaryDirectory(dir=MEMORY) as scratch:
        begin = log.tell()
        with subprocess.Popen(
            [*command, "--scratch", scratch, *_corpus(kind)], stdout=log, stderr=log, stdin=subprocess.DEVNULL
        ) as process:
            try:
                process.wait(timeout=seconds + GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                (place / "failures" / "hang.why").write_text("the worker hangs; its log tells the last input it began")
        log.seek(begin)
        printed = log.read().decode("utf-8", "replace")
    if "INITED" not in printed:
        sys.exit(f"the worker of {kind} did not begin:\n{printed[-3000:]}")
    return printed


def _corpus(kind: str) -> list[str]:
    folder = CORPUS / slug(kind)
    return [str(folder)] if folder.is_dir() else []


def _replayed(kind: str, path: Path) -> str:
    """What an input breaks in a fresh process; nothing if all holds."""
    command = [sys.executable, "-m", "tests.campaign.fuzz", kind, "--replay", str(path)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=600)
    told = (done.stdout + done.stderr).decode("utf-8", "replace")
    return told or f"exit {done.returncode}" if done.returncode else ""


def table(found: Iterable[Found]) -> str:
    """What came of each kind."""
    lines = [
        "| kind | inputs | a second | branches, before and after | new inputs | failures |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    lines += [
        f"| {one.kind} | {one.tried:,} | {one.tried / max(one.seconds, 1):.0f} | {one.before:,} → {one.covered:,} | "
        f"{one.inputs:,} | {len(one.failures)} |"
        for one in found
    ]
    return "\n".join(lines)


def report(found: list[Found]) -> int:
    """Print the table and the failures, each by what a fresh process says of it; the number of failures."""
    print(table(found))
    count = 0
    for one in found:
        for path in one.failures:
            why = _replayed(one.kind, path)
            kept = path.with_suffix(".why")
            told = why or (kept.read_text(encoding="utf-8") if kept.exists() else "it ended the process")
            count += 1
            print(f"\n{one.kind}: {signature(told)}{'' if why else ' (not repeated by a fresh process)'}")
            print(f"    python -m tests.campaign.fuzz {one.kind!r} --replay {path}")
    return count


def main(arguments: list[str]) -> int:
    """Run the campaign; the exit status: 1 where an input broke a promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=int, help="for all kinds together")
    parser.add_argument("--kinds", default=",".join(KINDS), help="only these, with commas between them")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--found", type=Path, default=FOUND, help="where new inputs and failures are kept")
    parser.add_argument("--seed", type=int, default=0, help="begin with the same inputs each time; default: random")
    given: Any = parser.parse_args(arguments)
    kinds = given.kinds.split(",")
    seconds = max(1, given.seconds * min(given.workers, len(kinds)) // len(kinds))
    with ThreadPoolExecutor(given.workers) as pool:
        found = list(pool.map(lambda kind: work(kind, seconds, given.found, given.seed), kinds))
    return 1 if report(found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
