"""The dry run on our own tasks, with transcripts made here: real hooks, real search, the same figures in every run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.arms import ARMS
from tests.acceptance.transcripts import Transcript

ROOT = Path(__file__).parents[2]
OWN_TASKS = ROOT / "evaluation" / "own_tasks"
SAYS = "A wait is rounded up, and one second is added. Nobody waits longer than 60 seconds."


def transcripts(folder: Path, *summaries: str) -> Path:
    """A folder with one session that was compacted with these summaries."""
    written = Transcript("5e550000-0000-4000-8000-000000000001")
    for number, summary in enumerate(summaries):
        for turn in range(12):
            written.turn(100 * number + turn)
        written.compaction(summary)
    written.write(folder / "session.jsonl")
    return folder


def dry_run(folder: Path, name: str, *options: str) -> tuple[str, list[dict[str, Any]]]:
    """What the command prints, and its outcomes."""
    file = folder / f"{name}.json"
    command = [sys.executable, "-m", "evaluation.dry_run", str(OWN_TASKS), str(folder), "--json", str(file), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[dict[str, Any]]]:
    """All arms on all our tasks, two compactions each."""
    folder = transcripts(
        tmp_path_factory.mktemp("dry"), "1. Work: the cache.\n2. Next: the parser.", f"1. Work. {SAYS}"
    )
    return dry_run(folder, "all", "--compactions", "2")


def answered(outcomes: list[dict[str, Any]], arm: str, agent: str) -> dict[str, float]:
    return {one["story"]: one["held"] for one in outcomes if (one["arm"], one["agent"]) == (arm, agent)}


def test_every_arm_is_printed_with_its_interval_and_the_least_effect_before(
    played: tuple[str, list[dict[str, Any]]],
) -> None:
    text, outcomes = played
    assert text.startswith("minimum detectable effect of 3 pairs")
    assert "What stands in the context" in text
    assert "helps" not in text
    for arm in ARMS:
        assert f"\n| {arm} | " in text
        assert len([one for one in outcomes if one["arm"] == arm]) == 6


def test_a_summary_that_says_the_facts_answers_in_every_arm(played: tuple[str, list[dict[str, Any]]]) -> None:
    said_last = answered(played[1], "bare", "reads")["own-limiter"]
    assert said_last in {0.0, 1.0}  # by which of the two summaries came last
    for arm in ARMS:
        assert answered(played[1], arm, "reads")["own-limiter"] >= said_last


def test_only_what_holds_the_facts_answers(played: tuple[str, list[dict[str, Any]]]) -> None:
    outcomes = played[1]
    assert answered(outcomes, "bare", "reads")["own-notes"] == 0
    assert answered(outcomes, "placebo", "looks up")["own-notes"] == 0
    assert answered(outcomes, "unified-state", "looks up")["own-notes"] == 1
    assert answered(outcomes, "grep", "looks up")["own-notes"] > 0
    assert answered(outcomes, "grep", "reads")["own-notes"] == 0
