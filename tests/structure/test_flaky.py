"""A test that fails by chance is printed as FLAKY and stops nothing; one that fails again stops the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(folder: Path, body: str, options: str = "") -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder as continuous integration does."""
    path = folder / "test_one.py"
    path.write_text(
        f"from pathlib import Path\n\nSEEN = Path(__file__).with_name('seen')\n\n\n{body}", encoding="utf-8"
    )
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "tests.flaky", str(path), "-q", "-p", "no:cacheprovider", *options.split()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_test_that_passes_alone_is_flaky_and_the_run_goes_on(tmp_path: Path) -> None:
    body = "def test_it():\n    first = not SEEN.exists()\n    SEEN.touch()\n    assert not first\n"
    done = run(tmp_path, body, "-n 2")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "FLAKY test_one.py::test_it")


def test_a_test_that_fails_again_ends_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "def test_it():\n    assert False\n")
    assert (done.returncode, "FLAKY" in done.stdout) == (1, False)
