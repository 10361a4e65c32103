"""The results of an exam as tables and as JSON, and two of them compared. Intervals draw whole cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from benchmarks.averages import Average, pooled, short
from benchmarks.exam_questions import Sitting

ALL = "all"
SHARES, COUNTS = ("rework", "noise"), ("wrong",)
_NAME_WIDTH, _WIDTH = 24, 15


class Result(NamedTuple):
    """How one method did on one case: a mark for each question, and the other measures by name."""

    method: str
    tokens: int
    case: str
    marks: list[float]
    measures: dict[str, float]


def as_json(sittings: Sequence[Sitting], results: Sequence[Result]) -> dict[str, Any]:
    """All results for `--against`."""
    cases = {sitting.name: [[question.kind, question.text] for question in sitting.questions] for sitting in sittings}
    return {"cases": cases, "results": [result._asdict() for result in results]}


def tables(sittings: Sequence[Sitting], results: Sequence[Result]) -> str:
    """All results for people."""
    kinds = kinds_of(sittings)
    asked = sum(map(len, kinds.values()))
    lines = [f"{len(sittings)} compactions, {asked} questions: mean and its 95 % interval by case"]
    for tokens, group in groupby(results, key=lambda result: result.tokens):
        found = list(group)
        lines += ["", f"{tokens:,} tokens beside the summary", _row("", _heads(kinds))]
        for method in dict.fromkeys(result.method for result in found):
            own = [result for result in found if result.method == method]
            lines.append(_row(method, [_shown(*column) for column in _columns(own, kinds)]))
    return "\n".join(lines)


def compared(sittings: Sequence[Sitting], results: Sequence[Result], earlier: dict[str, Any]) -> str:
    """How much more each method has than in an earlier run, case by case. Raise ValueError where nothing compares."""
    kinds = kinds_of(sittings)
    try:
        asked = {case: [tuple(question) for question in questions] for case, questions in earlier["cases"].items()}
        known = {result[:3]: result for result in (Result(**result) for result in earlier["results"])}
    except (AttributeError, KeyError, TypeError) as error:
        message = f"the earlier results are not as --json writes them: {error!r}"
        raise ValueError(message) from error
    same = {
        sitting.name
        for sitting in sittings
        if asked.get(sitting.name) == [(question.kind, question.text) for question in sitting.questions]
    }
    differences = [
        _difference(result, known[key]) for result in results if (key := result[:3]) in known and result.case in same
    ]
    if not differences:
        message = "the earlier run has none of these questions, methods and budgets"
        raise ValueError(message)
    lines = [f"difference to the earlier run in {len(same)} compactions", _row("", _heads(kinds))]
    for method, tokens in dict.fromkeys(result[:2] for result in differences):
        own = [result for result in differences if result[:2] == (method, tokens)]
        lines.append(_row(f"{method} {tokens:,}", [_signed(values) for _, values in _columns(own, kinds)]))
    return "\n".join(lines)


def kinds_of(sittings: Sequence[Sitting]) -> dict[str, list[str]]:
    """The kind of each question of each case."""
    return {sitting.name: [question.kind for question in sitting.questions] for sitting in sittings}


def _difference(result: Result, earlier: Result) -> Result:
    marks = [own - other for own, other in zip(result.marks, earlier.marks, strict=True)]
    measures = {
        name: value - earlier.measures[name] for name, value in result.measures.items() if name in earlier.measures
    }
    return Result(result.method, result.tokens, result.case, marks, measures)


def _columns(results: Sequence[Result], kinds: dict[str, list[str]]) -> Iterator[tuple[str, Average | None]]:
    """The name and the average of each column."""
    for kind in _names(kinds):
        of_kind = _of_kind(kind, kinds)
        yield kind, _average([of_kind(result) for result in results])
    for name in (*SHARES, *COUNTS):
        yield name, _average([[result.measures[name]] for result in results if name in result.measures])


def _of_kind(kind: str, kinds: dict[str, list[str]]) -> Callable[[Result], list[float]]:
    def marks(result: Result) -> list[float]:
        return [mark for mark, own in zip(result.marks, kinds[result.case], strict=True) if kind in {ALL, own}]

    return marks


def _average(groups: Sequence[Sequence[float]]) -> Average | None:
    return pooled(groups) if any(groups) else None


def _names(kinds: dict[str, list[str]]) -> list[str]:
    return [ALL, *sorted({kind for of_case in kinds.values() for kind in of_case})]


def _heads(kinds: dict[str, list[str]]) -> list[str]:
    every = [kind for of_case in kinds.values() for kind in of_case]
    counted = [f"{name} ({len(every) if name == ALL else every.count(name)})" for name in _names(kinds)]
    return [*counted, *SHARES, *COUNTS]


def _shown(name: str, found: Average | None) -> str:
    if found is None:
        return "-"
    if name in COUNTS or found.low < 0:
        return f"{found.mean:.2f} {found.low:.1f}-{found.high:.1f}"
    return str(found)


def _signed(found: Average | None) -> str:
    if found is None:
        return "-"
    mean, low, high = (
        f"{'-' if value < 0 else '+'}{short(abs(value), 2)}" for value in (found.mean, found.low, found.high)
    )
    return f"{mean} {low} {high}"


def _row(name: str, columns: Sequence[str]) -> str:
    return f"{name:{_NAME_WIDTH}}{' '.join(column.ljust(_WIDTH) for column in columns)}".rstrip()
