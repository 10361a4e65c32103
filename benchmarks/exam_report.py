"""The results of an exam as tables, and two of them compared. Intervals draw whole cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import NamedTuple

from benchmarks.averages import pooled, short
from benchmarks.hindcast import OURS

ALL = "all"
MEASURES = ("lost words", "lost prompts", "said", "noise")
_MUCH = 200  # tokens
_NAME_WIDTH, _WIDTH = 22, 17


class Result(NamedTuple):
    """How one method did on one case: its answers, and values by measure."""

    set: str
    project: str
    case: str
    method: str
    tokens: int
    asked: Sequence[Sequence[str]] = ()  # kind and question
    answered: Sequence[float] = ()
    values: dict[str, list[float]] = {}  # noqa: RUF012 -- nothing changes it
    noise: Sequence[Sequence[str | float]] = ()  # section and noise of each line
    unspent: int = 0
    left_out: bool = False
    untrue: Sequence[str] = ()

    def of(self, column: str) -> Sequence[float]:
        """The values of a column: a kind of question, or a measure."""
        if column in MEASURES:
            return self.values.get(column, [])
        return [mark for (kind, _), mark in zip(self.asked, self.answered, strict=True) if column in {ALL, kind}]


def tables(results: Sequence[Result]) -> str:
    """All results for people: a table for each budget and group of cases, then what only the restore is asked. Raise
    ValueError where there are none.
    """
    if not results:
        message = "there are no such compactions"
        raise ValueError(message)
    lines = []
    for tokens in dict.fromkeys(result.tokens for result in results):
        for name, group in _groups([result for result in results if result.tokens == tokens]).items():
            lines += [*_table(f"{name}, {tokens:,} tokens", group), ""]
        own = [result for result in results if (result.method, result.tokens) == (OURS, tokens)]
        lines += _about(own) if own else []
    return "\n".join(lines)


def compared(results: Sequence[Result], before: Sequence[Result]) -> str:
    """How much more each method has than in an earlier run, question by question. Raise ValueError where none is the
    same.
    """
    earlier = {result[:5]: result for result in before}
    lines = ["difference to the earlier run, in the same questions"]
    for method, tokens in dict.fromkeys((result.method, result.tokens) for result in results):
        pairs = [
            (result, earlier[result[:5]])
            for result in results
            if (result.method, result.tokens) == (method, tokens) and result[:5] in earlier
        ]
        differences = [
            [mark - other for mark, other in zip(result.answered, old.answered, strict=True)]
            for result, old in pairs
            if [list(one) for one in result.asked] == [list(one) for one in old.asked]
        ]
        if any(differences):
            found = pooled(differences)
            lines.append(f"{method} {tokens:,}: {found.mean:+.3f} {found.low:+.2f} to {found.high:+.2f}")
    if len(lines) == 1:
        message = "the earlier run has none of these questions, methods and budgets"
        raise ValueError(message)
    return "\n".join(lines)


def failing(results: Sequence[Result]) -> str:
    """The questions that the restore does not answer, by budget."""
    return "\n".join(
        f"{result.tokens:,} {result.case} {kind}: {question}"
        for result in results
        if result.method == OURS
        for (kind, question), mark in zip(result.asked, result.answered, strict=True)
        if not mark
    )


def _groups(results: Sequence[Result]) -> dict[str, list[Result]]:
    """All, each set, and each project of a set that has several."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        for name in ("all sets", f"set {result.set}", f"set {result.set}, {result.project}"):
            groups.setdefault(name, []).append(result)
    distinct: dict[str, list[Result]] = {}
    for name, group in groups.items():
        if group not in distinct.values():
            distinct[name] = group
    return distinct


def _table(title: str, results: Sequence[Result]) -> Iterator[str]:
    one = [result for result in results if result.method == results[0].method]
    kinds = sorted({kind for result in one for kind, _ in result.asked})
    columns = [ALL, *kinds, *MEASURES]
    heads = [f"{column} ({sum(len(result.of(column)) for result in one)})" for column in columns[:-1]]
    yield f"{title}: {len(one)} compactions, {sum(bool(result.asked) for result in one)} of them with questions"
    yield _row("", [*heads, columns[-1]])
    for method in dict.fromkeys(result.method for result in results):
        own = [result for result in results if result.method == method]
        yield _row(method, [_shown([result.of(column) for result in own]) for column in columns])


def _about(results: Sequence[Result]) -> Iterator[str]:
    """What of the budget is left, and what is untrue."""
    waste = sum(result.left_out and result.unspent > _MUCH for result in results)
    yield (
        f"{OURS}: median of {median(result.unspent for result in results):,.0f} tokens unspent; "
        f"in {waste} of {len(results)} cases something is left out beside more than {_MUCH}"
    )
    lines: dict[str, list[float]] = {}
    for section, is_noise in (line for result in results for line in result.noise):
        lines.setdefault(str(section), []).append(float(is_noise))
    longest = sorted(lines.items(), key=lambda item: -len(item[1]))
    yield f"noise by section: {', '.join(f'{name} {short(fmean(own), 2)} of {len(own)}' for name, own in longest)}"
    untrue = [f"  {result.case} {line}" for result in results for line in result.untrue]
    yield f"{len(untrue)} untrue lines in {sum(bool(result.untrue) for result in results)} of {len(results)} restores"
    yield from untrue


def _shown(groups: Sequence[Sequence[float]]) -> str:
    """The mean, and of several cases its interval."""
    cases = [group for group in groups if group]
    found = pooled(cases) if cases else None
    return "-" if found is None else str(found) if len(cases) > 1 else short(found.mean)


def _row(name: str, columns: Sequence[str]) -> str:
    return f"{name:{_NAME_WIDTH}}{' '.join(column.ljust(_WIDTH) for column in columns)}".rstrip()
