"""The figures of finished runs: by arm, paired by task and ending."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from benchmarks.averages import short
from evaluation.arms import ARMS, BARE
from evaluation.paired import against, interval

Json = dict[str, Any]
MEASURES = {
    "rules_broken": "rules broken",
    "corrections": "corrections",
    "files_read_again": "files read again",
    "commands_run_again": "commands run again",
    "tokens": "tokens",
    "dollars": "dollars",
    "minutes": "minutes",
}


def pairs(results: Sequence[Json], arm: str, other: str) -> tuple[list[float], list[float]]:
    """What was solved at once, where both arms have finished the same task with the same ending."""
    ours, theirs = _solved(results, arm), _solved(results, other)
    both = sorted(ours.keys() & theirs.keys())
    return [ours[key] for key in both], [theirs[key] for key in both]


def _solved(results: Sequence[Json], arm: str) -> dict[tuple[str, str], float]:
    return {(one["task"], one["ending"]): float(one["solved_at_once"]) for one in results if one["arm"] == arm}


def summary(results: Sequence[Json]) -> str:
    """A table in Markdown, an arm a line."""
    head = ["arm", "runs", "solved at once", "against bare", "solved", *MEASURES.values()]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    finished = {arm: [one for one in results if one["arm"] == arm] for arm in ARMS}
    lines += [f"| {' | '.join(_cells(results, own, arm))} |" for arm, own in finished.items() if own]
    return "\n".join(lines)


def _cells(results: Sequence[Json], own: Sequence[Json], arm: str) -> list[str]:
    ours, bare = pairs(results, arm, BARE)
    means = [f"{fmean(float(one[measure]) for one in own):,.2f}" for measure in MEASURES]
    solved = short(fmean(float(one["solved"]) for one in own))
    return [
        arm,
        str(len(own)),
        interval([float(one["solved_at_once"]) for one in own]),
        against(ours, bare) if arm != BARE else "",
        solved,
        *means,
    ]
