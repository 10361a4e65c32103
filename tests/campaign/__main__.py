"""The campaign: `python -m tests.campaign SECONDS` shares the time between the kinds of input and prints what it found.

Each kind has a process of its own, and as many run at once as the machine has processors. An input that reaches more
code is kept beside the checkout, and so is one that breaks a promise; the command that repeats it is printed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.campaign.fuzz import MEMORY, signature
from tests.campaign.kind_table import KINDS

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path(".campaign")
GRACE = 300  # seconds that a worker may take longer: for the last input, and for the corpus before the first
_COVERED = re.compile(r"cov: (\d+)")
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s+(\d+)|^#(\d+)\s", re.MULTILINE)


def work(kind: str, seconds: int, folder: Path, seed: int) -> int:
    """Try inputs of a kind for some time and print what came of it; how many broke a promise. 0 is a random seed."""
    name = kind.lower().replace(" ", "-")
    place = folder / name
    shutil.rmtree(place, ignore_errors=True)
    (place / "failures").mkdir(parents=True)
    command = [sys.executable, "-m", "tests.campaign.fuzz", kind, "--seconds", str(seconds), "--found", str(place)]
    with (place / "log").open("wb") as log, TemporaryDirectory(dir=MEMORY) as scratch:
        command += ["--seed", str(seed), "--scratch", scratch, str(CORPUS / name)]
        try:
            subprocess.run(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, timeout=seconds + GRACE, check=False
            )
        except subprocess.TimeoutExpired:
            (place / "failures" / "hang").touch()  # the log tells the last input that it began
    printed = (place / "log").read_text(encoding="utf-8", errors="replace")
    tried = max((int(a or b) for a, b in _EXECUTED.findall(printed)), default=0)
    covered = max(map(int, _COVERED.findall(printed)), default=0)
    failures = [path for path in sorted((place / "failures").iterdir()) if path.suffix != ".why"]
    told = [f"{kind}: {tried:,} inputs, {covered:,} branches, {len(failures)} failures"]
    for path in failures:
        why = path.with_suffix(".why")
        told.append(f"    {signature(why.read_text(encoding='utf-8')) if why.exists() else 'it ended the process'}")
        told.append(f"    python -m tests.campaign.fuzz {kind!r} --replay {path}")
    if "INITED" not in printed:
        told.append(f"    it did not begin:\n{printed[-3000:]}")
    print("\n".join(told), flush=True)
    return len(failures) + ("INITED" not in printed)


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
        return int(any(list(pool.map(lambda kind: work(kind, seconds, given.found, given.seed), kinds))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
