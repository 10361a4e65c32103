"""How well methods of search find the evidence of questions: the measures, and tables of their means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from benchmarks.averages import average

CUTOFFS = (1, 5, 10, 20)
_NAME_WIDTH, _WIDTH = 16, 15


class Found(NamedTuple):
    """How one method did on one question."""

    method: str
    category: str
    scores: dict[str, float]


class Summed(NamedTuple):
    """The name of the first table, and the categories of questions that it is over."""

    name: str
    categories: tuple[str, ...]


def scores(ranked: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """The share of the evidence among the first turns, and one over the place of the first that is evidence."""
    recalls = {f"R@{cutoff}": len(evidence.intersection(ranked[:cutoff])) / len(evidence) for cutoff in CUTOFFS}
    first = next((place for place, turn in enumerate(ranked[: CUTOFFS[-1]], 1) if turn in evidence), None)
    return {**recalls, "MRR": 1 / first if first else 0.0}


def print_found(found: Sequence[Found], summed: Summed, compared: Sequence[str], *, as_json: bool) -> None:
    """Print the tables, or the same as JSON. `compared` are methods of which the others are set against the first."""
    if as_json:
        print(json.dumps(list(_as_json(found, summed)), indent=1))
    else:
        print("\n\n".join([*_tables(found, summed), *_differences(found, summed, compared)]))


def _groups(found: Sequence[Found], summed: Summed) -> Iterator[tuple[str, list[Found]]]:
    """All that counts, then each category by itself, where there is more than one."""
    yield summed.name, [one for one in found if one.category in summed.categories]
    others = sorted({one.category for one in found}.difference(summed.categories))
    categories = (*summed.categories, *others)
    for category in categories if len(categories) > 1 else ():
        of_category = [one for one in found if one.category == category]
        if of_category:
            yield category, of_category


def _tables(found: Sequence[Found], summed: Summed) -> Iterator[str]:
    for name, group in _groups(found, summed):
        measures = list(group[0].scores) if group else []
        count = sum(one.method == group[0].method for one in group)
        lines = [f"{name}, {count} questions: mean and its 95 % interval", _row("", measures)]
        for method in dict.fromkeys(one.method for one in group):
            own = [one.scores for one in group if one.method == method]
            lines.append(_row(method, [str(average([score[measure] for score in own])) for measure in measures]))
        yield "\n".join(lines)


def _differences(found: Sequence[Found], summed: Summed, methods: Sequence[str]) -> Iterator[str]:
    """How much better each method is than the first of them, question by question."""
    for method in methods[1:]:
        lines = [f"{method} over {methods[0]}: mean difference and its 95 % interval"]
        for name, group in _groups(found, summed):
            before, after = ([one.scores for one in group if one.method == which] for which in (methods[0], method))
            differences = {
                measure: average([new[measure] - old[measure] for old, new in zip(before, after, strict=True)])
                for measure in before[0]
            }
            shown = (
                f"{measure} {one.mean:+.3f} {one.low:+.3f} to {one.high:+.3f}" for measure, one in differences.items()
            )
            lines.append(f"{name:{_NAME_WIDTH}}{'   '.join(shown)}")
        yield "\n".join(lines)


def _as_json(found: Sequence[Found], summed: Summed) -> Iterator[dict[str, Any]]:
    for name, group in _groups(found, summed):
        for method in dict.fromkeys(one.method for one in group):
            own = [one.scores for one in group if one.method == method]
            measures = {measure: asdict(average([score[measure] for score in own])) for measure in own[0]}
            yield {"questions": name, "method": method, "measures": measures}


def _row(name: str, columns: Sequence[str]) -> str:
    return f"{name:{_NAME_WIDTH}}{' '.join(column.ljust(_WIDTH) for column in columns)}".rstrip()
