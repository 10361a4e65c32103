"""What `make check` runs and what `make demo` installs."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.flaky import may_be_tried_again
from tests.groups import MARKERS, NEVER_AGAIN, PROMISED, SLOW, STRESS, WAITING

ROOT = Path(__file__).parents[2]


def would_run(target: str, tmp_path: Path) -> str:
    """The commands that make would run for a target in a fresh clone."""
    command = ["make", "--dry-run", "--directory", str(ROOT), target, f"VENV={tmp_path}/new"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return shown.replace(str(tmp_path), "")


def test_every_place_that_has_a_marker_exists() -> None:
    places = [*MARKERS, *SLOW, *WAITING, *PROMISED, *(place for places in STRESS.values() for place in places)]
    assert [place for place in places if not (ROOT / "tests" / place).exists()] == []
    known = [path.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    assert [start for start in NEVER_AGAIN if not any(name.startswith(start) for name in known)] == []


@pytest.mark.parametrize(
    ("failed", "again"),
    [
        ([], False),
        (["tests/lib/test_fence.py::test_a"], True),
        (["tests/lib/test_fence.py::test_a"] * 6, False),
        (["tests/lib/test_fence.py::test_a", "tests/acceptance/test_gate.py::test_b[x]"], False),
        (["tests/secrets/test_mask.py::test_c"], False),
    ],
)
def test_a_failure_is_tried_again_unless_it_is_of_durability_trust_or_masking(failed: list[str], again: bool) -> None:
    assert may_be_tried_again(failed) == again


def test_what_check_does_not_read_is_what_is_marked_by_its_folder(tmp_path: Path) -> None:
    words = shlex.split(would_run("check", tmp_path))
    ignored = {word.removeprefix("--ignore=tests/") for word in words if word.startswith("--ignore")}
    assert ignored == {place for place in MARKERS if (ROOT / "tests" / place).is_dir()}
    (chosen,) = (words[index + 1] for index, word in enumerate(words) if word == "-m" and "not" in words[index + 1])
    assert chosen == "not process and not server and not client and not slow and not stress"


def test_demo_installs_what_the_product_needs_and_test_the_rest(tmp_path: Path) -> None:
    demo, test = would_run("demo", tmp_path), would_run("test", tmp_path)
    assert "--editable .\n" in demo
    assert "dev" not in demo
    assert "--editable .\n" in test
    assert "--editable '.[dev," in test
