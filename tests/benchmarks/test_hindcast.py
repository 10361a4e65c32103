"""The hindcast on a session of which every figure can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import hindcast
from benchmarks.hindcast_baselines import BASELINES
from benchmarks.hindcast_cases import Case, find_cases
from benchmarks.hindcast_report import measure
from tests import builders

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
GOLD = {"read_alpha", "read_beta", "read_gamma", "read_delta", "alpha.py", "beta.py", "#12", "pytest tests"}
SUMMARY = "The user wants read_alpha in alpha.py.\n\nThen comes read_beta."
ERROR = "alpha.py:3: ValueError: read_alpha got None"
OUTPUT = f"{ERROR}\n1 failed,  9 passed in 0.51s"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One session: ten files are read, the tests fail, the client compacts, the first file is edited."""
    numbers = iter(range(100))
    entries = [builders.prompt(next(numbers), "Please see to #12")]
    for name in NAMES:
        reading = builders.call(f"toolu_{name}", "Read", file_path=f"/p/{name}.py")
        entries += [builders.answer(next(numbers), reading)]
        entries += [builders.result(next(numbers), f"toolu_{name}", f"def read_{name}(text): ...")]
    entries += [builders.answer(next(numbers), builders.call("toolu_before", "Bash", command="pytest tests"))]
    entries += [builders.result(next(numbers), "toolu_before", OUTPUT, is_error=True)]
    entries += [builders.boundary(next(numbers)), builders.summary(next(numbers), SUMMARY)]
    edit = {"file_path": "/p/alpha.py", "old_string": "def read_alpha(text)", "new_string": "def read_alpha(brand_new)"}
    entries += [builders.answer(next(numbers), "On with #12: read_beta, read_gamma and read_delta, as in beta.py")]
    entries += [builders.answer(next(numbers), builders.call("toolu_edit", "Edit", **edit))]
    entries += [builders.answer(next(numbers), builders.call("toolu_after", "Bash", command="pytest tests"))]
    builders.write_transcript(tmp_path / "transcripts" / "session.jsonl", *entries)
    return tmp_path / "transcripts"


@pytest.fixture
def case(folder: Path) -> Case:
    """The compaction of that session."""
    (found,) = find_cases(folder)
    return found


def test_gold_is_what_the_agent_writes_afterwards_and_had_seen_before(case: Case) -> None:
    assert case.gold == GOLD
    assert case.lost() == GOLD - {"read_alpha", "alpha.py", "read_beta"}
    assert case.pairs == {("alpha.py", "read_alpha")}
    assert case.next_edits == [("alpha.py", "read_alpha")]


def test_names_are_held_anywhere_and_pairs_in_one_line(case: Case) -> None:
    text = "alpha.py: read_beta\nbeta.py: read_gamma my_read_alpha\n$ pytest -> 1 failed, 9 passed in 7.2s"
    assert measure(case, text) == {
        "all": 4 / 8,
        "lost": 2 / 5,
        "pair": 0.0,
        "next edit": 0.0,
    }


def test_the_command_prints_every_method_with_figures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hindcast.main([str(folder), "--tokens", "250", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = {(row["method"], row["mode"]): row["measures"] for row in printed}
    assert [method for method, mode in found if mode == "alone"] == [*BASELINES, "summary", "unified-state"]
    assert found["summary", "with the summary"]["all"]["mean"] == 3 / 8
    assert found["frequent names", "alone"]["pair"]["mean"] == 0
    assert found["unified-state", "alone"]["pair"]["mean"] == 1
