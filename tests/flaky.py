"""Run pytest, and try each test that failed once more, alone: `python -m tests.flaky ARGUMENT…`.

A test that passes then is printed as FLAKY, and the run goes on; its cause still has to be mended. What promises
durability, locks, trust, masking or the gate is never tried again, nor are more than a few failures at once: something
is broken then.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.groups import NEVER_AGAIN

_MOST = 5  # failures that may each be due to chance
_FAILED = 1  # pytest's exit code where tests ran and some failed


def pytest(*arguments: str) -> tuple[int, list[str]]:
    """Run pytest. Return its exit code and the tests that failed, by their node ids."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "failed")
        command = [sys.executable, "-m", "pytest", "-p", "tests.failed_names", f"--failed-names={report}", *arguments]
        code = subprocess.run(command, check=False).returncode
        return code, report.read_text(encoding="utf-8").splitlines() if report.exists() else []


def may_be_tried_again(failed: Sequence[str]) -> bool:
    """Whether all of these failures may be due to chance."""
    return 0 < len(failed) <= _MOST and not any(name.removeprefix("tests/").startswith(NEVER_AGAIN) for name in failed)


def main(arguments: Sequence[str]) -> int:
    """Run the tests and return the exit code."""
    code, failed = pytest(*arguments)
    if code != _FAILED or not may_be_tried_again(failed):
        return code
    for name in failed:
        again, _ = pytest("-q", "-n0", name)
        if again:
            return again
    for name in failed:
        sys.stdout.write(f"FLAKY {name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
