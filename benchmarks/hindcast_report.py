"""The hindcast's results as tables and as JSON: means over cases with their intervals, and beside them what is left
when the recall of a random list of names is taken off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Sized
from dataclasses import asdict
from typing import Any, NamedTuple

from benchmarks.averages import average, macro_average, short
from benchmarks.hindcast_baselines import RANDOM_NAMES
from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_measures import MEASURES

ALONE, WITH_SUMMARY = "alone", "with the summary"
_OVER_NAMES = ("all", "lost")  # the measures that a list of names can raise
_NAME_WIDTH, _WIDTH, _SHORT_WIDTH = 18, 15, 12


class CaseFacts(NamedTuple):
    """What a case is called, and how much gold of each kind it has."""

    name: str
    project: str
    gold: int
    lost: int
    pairs: int
    next_edits: int
    repeated: int
    errors: int


class Measured(NamedTuple):
    """What one method's text holds for one case."""

    method: str
    tokens: int
    mode: str
    case: str
    shares: dict[str, float]


class _Cell:
    """The shares of one method within one budget, by case."""

    def __init__(self, measured: Sequence[Measured], of: tuple[str, int, str]) -> None:
        self._shares = {m.case: m.shares for m in measured if (m.method, m.tokens, m.mode) == of}

    def of(self, measure: str) -> dict[str, float]:
        """The share of each case that has this measure."""
        return {case: shares[measure] for case, shares in self._shares.items() if measure in shares}

    def over(self, other: _Cell, measure: str) -> list[float]:
        """How much more this one holds than the other, case by case."""
        own, others = self.of(measure), other.of(measure)
        return [own[case] - others[case] for case in own]


def facts_of(case: Case) -> CaseFacts:
    """What the report needs to know of a case, without its transcript."""
    pieces: tuple[Sized, ...] = (case.gold, case.lost(), case.pairs, case.next_edits, case.repeated, case.errors)
    return CaseFacts(case.name, case.project, *map(len, pieces))


def tables(measured: Sequence[Measured], cases: Sequence[CaseFacts]) -> str:
    """All results for people."""
    projects = Counter(case.project for case in cases)
    lines = [f"{_counted(len(cases), 'compaction')} of {_counted(len(projects), 'project')}"]
    for tokens, mode in dict.fromkeys((m.tokens, m.mode) for m in measured):
        lines += ["", *_table(measured, tokens, mode)]
    if len(projects) > 1:
        lines += ["", *_macro_table(measured, cases)]
    return "\n".join(lines)


def _table(measured: Sequence[Measured], tokens: int, mode: str) -> Iterator[str]:
    methods = _methods(measured)
    cells = {method: _Cell(measured, (method, tokens, mode)) for method in methods}
    names = cells[RANDOM_NAMES]
    yield f"{tokens:,} tokens, {mode}: mean, its 95 % interval, and the mean over that of random names"
    heads = [f"{measure} ({len(names.of(measure))})".ljust(_WIDTH) for measure in MEASURES]
    for measure in reversed(_OVER_NAMES):
        heads.insert(MEASURES.index(measure) + 1, "over names".ljust(_SHORT_WIDTH))
    yield _row("", heads)
    for method, cell in cells.items():
        columns = []
        for measure in MEASURES:
            values = list(cell.of(measure).values())
            columns.append(str(average(values)).ljust(_WIDTH) if values else "-".ljust(_WIDTH))
            if measure in _OVER_NAMES:
                over = cell.over(names, measure)
                columns.append((_signed(average(over).mean) if over else "-").ljust(_SHORT_WIDTH))
        yield _row(method, columns)


def _macro_table(measured: Sequence[Measured], cases: Sequence[CaseFacts]) -> Iterator[str]:
    projects = {case.name: case.project for case in cases}
    yield "mean of the projects' means"
    yield _row("", [measure.ljust(_SHORT_WIDTH) for measure in MEASURES])
    for tokens, mode in dict.fromkeys((m.tokens, m.mode) for m in measured):
        yield f"{tokens:,} tokens, {mode}"
        for method in _methods(measured):
            cell = _Cell(measured, (method, tokens, mode))
            found = [_macro(cell.of(measure), projects) for measure in MEASURES]
            yield _row(method, [("-" if value is None else short(value)).ljust(_SHORT_WIDTH) for value in found])


def as_json(measured: Sequence[Measured], cases: Sequence[CaseFacts]) -> dict[str, Any]:
    """All results for programs."""
    return {
        "cases": [case._asdict() for case in cases],
        "results": [
            {"method": method, "tokens": tokens, "mode": mode, "measures": _measures_as_json(measured, of, cases)}
            for of in dict.fromkeys((m.method, m.tokens, m.mode) for m in measured)
            for method, tokens, mode in [of]
        ],
    }


def _measures_as_json(
    measured: Sequence[Measured], of: tuple[str, int, str], cases: Sequence[CaseFacts]
) -> dict[str, Any]:
    projects = {case.name: case.project for case in cases}
    cell, names = _Cell(measured, of), _Cell(measured, (RANDOM_NAMES, *of[1:]))
    return {
        measure: {
            **asdict(average(list(shares.values()))),
            "macro": _macro(shares, projects),
            "over_names": asdict(average(cell.over(names, measure))),
        }
        for measure in MEASURES
        if (shares := cell.of(measure))
    }


def _macro(shares: dict[str, float], projects: dict[str, str]) -> float | None:
    return macro_average(list(shares.values()), [projects[case] for case in shares]) if shares else None


def _methods(measured: Sequence[Measured]) -> list[str]:
    return list(dict.fromkeys(m.method for m in measured))


def _row(name: str, columns: Sequence[str]) -> str:
    return f"{name:{_NAME_WIDTH}}{' '.join(columns)}".rstrip()


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{short(abs(value))}"
