"""`python -m tests.faults`: plant one fault after the other in a copy of the checkout, and look which test finds it.

First the tests run that should find it. If they pass, `make test` runs as a whole, but for `--quick`. A test that fails
without the fault too finds nothing. Exits with 1 if a fault was not found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.copied_tree import HANGS, CopiedTree
from tests.faults.planted import Fault, read_faults

NOT_FOUND = "NOT FOUND"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the chosen faults and print a table. Returns the exit status."""
    faults = read_faults()
    parser = argparse.ArgumentParser(prog="make faults", description="Plant faults, and look which test finds each.")
    names = [fault.name for fault in faults]
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=names, default=names, help="only these faults")
    parser.add_argument("--quick", action="store_true", help="never run the whole of `make test`")
    chosen = parser.parse_args(arguments)
    wanted = [fault for fault in faults if fault.name in chosen.only]
    missed = 0
    with TemporaryDirectory(prefix="unified-state-faults-") as folder:
        tree = CopiedTree(Path(folder).resolve())
        print("| fault | promise | found by | s |\n| --- | --- | --- | --: |")
        for fault in wanted:
            begun = time.monotonic()
            test = finder(tree, fault, quick=chosen.quick)
            missed += test is None
            row = (fault.name, fault.promise, (test or NOT_FOUND).partition("[")[0], f"{time.monotonic() - begun:.0f}")
            print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{len(wanted) - missed} of {len(wanted)} faults were found.")
    return int(missed > 0)


def finder(tree: CopiedTree, fault: Fault, *, quick: bool) -> str | None:
    """Return the test that fails with a fault and passes without it, or None."""
    with tree.planted(fault):
        test = tree.failing(fault.tests)
    if _is_finder(tree, test):
        return test
    if quick:
        return None
    with tree.planted(fault):
        test = tree.failing_of_all()
    return test if _is_finder(tree, test) else None


def _is_finder(tree: CopiedTree, test: str | None) -> bool:
    return test is not None and (test == HANGS or tree.failing([test]) is None)


if __name__ == "__main__":
    sys.exit(main())
