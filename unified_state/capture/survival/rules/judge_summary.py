"""Judging a summary: of each item of the state whether it was kept, is missing or is told otherwise.

A statement that names the item's ref is about it; any other has to share most of its words. Where an item is told twice
and once wrongly under its ref, it is told wrongly. What one item says word for word says nothing of another.
"""

from __future__ import annotations

from unified_state.capture.survival.rules.compare import BESIDE, LED, UNNAMED, compare
from unified_state.capture.survival.rules.read_statement import is_called_former, is_called_open, is_called_past, read
from unified_state.capture.survival.rules.statements import statements
from unified_state.lib.words.identifiers import identifiers, stands_in
from unified_state.model.item import DECISION, EVIDENCE, MAIN_FIELDS, QUESTION
from unified_state.model.survival_verdicts import BARE, DISTORTED, KEPT, MISSING, STALE, Judged, Named, Survival

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unified_state.capture.survival.rules.read_statement import Reading
    from unified_state.capture.survival.rules.statements import Statement
    from unified_state.model.item import LedgerItem
    from unified_state.model.working_set_entries import WorkingSet

_MOST_CANDIDATES = 5
_LONGEST_CLAIM = 600  # characters
_LEAST_REASON, _REASON_SAID = 2, 0.6  # words of a reason, and the part of them that has to be said
_SUPERSEDED = "superseded"


def claim_of(item: LedgerItem) -> str:
    """What an item says, in the words that a summary has to keep."""
    text = str(item.body.get(MAIN_FIELDS[item.kind]) or "").strip()
    return (text.splitlines() or [""])[0][:_LONGEST_CLAIM] if item.kind == EVIDENCE else text[:_LONGEST_CLAIM]


def judge(items: Sequence[LedgerItem], summary: str) -> Survival:
    """What a summary kept of some items; of superseded ones, which it tells as if they still held. What stands in the
    place of such a one is told otherwise.
    """
    told = _Told(summary, items)
    found = {item.alias: told.judge(item) for item in items if item.status != _SUPERSEDED}
    stated = {judged.begin for judged in found.values() if judged.verdict in {KEPT, BARE}}
    found = {ref: told.without_others(judged, stated) for ref, judged in found.items()}
    by_uuid = {item.uuid: item for item in items}
    stale = []
    for item in items:
        judged = told.judge(item) if item.status == _SUPERSEDED else None
        if judged is None or judged.verdict != KEPT or judged.begin in stated or told.is_former(judged):
            continue
        stale.append(judged.replace(verdict=STALE))
        newer = _newest(item, by_uuid)
        if newer is not None and newer.alias in found:
            found[newer.alias] = judged.replace(ref=newer.alias, verdict=DISTORTED)
    return Survival((*found.values(), *stale))


def _newest(item: LedgerItem, by_uuid: dict[str, LedgerItem]) -> LedgerItem | None:
    """What stands in the place of a superseded item now, as far as it is known."""
    seen = set()
    while item.superseded_by in by_uuid and item.uuid not in seen:
        seen.add(item.uuid)
        item = by_uuid[item.superseded_by]
    return item if seen else None


class _Told:
    """A summary, read once: its statements and which words stand in which."""

    def __init__(self, summary: str, items: Iterable[LedgerItem]) -> None:
        self._refs = frozenset(item.alias for item in items)
        self._statements = statements(summary)
        self._readings = [read(statement.text, statement.refs & self._refs) for statement in self._statements]
        self._where: dict[str, list[int]] = {}
        for number, reading in enumerate(self._readings):
            for key in reading.terms:
                self._where.setdefault(key, []).append(number)
        self._common = max(8, len(self._statements) // 4)

    def judge(self, item: LedgerItem) -> Judged:
        """The verdict on one item."""
        claim = read(claim_of(item))
        best = Judged(item.alias, MISSING)
        for number in self._named(item.alias):
            statement = self._statements[number]
            how = LED if statement.led_by == item.alias else BESIDE
            verdict = compare(claim, self._readings[number], how)
            if how == LED and verdict != DISTORTED and _is_told_done(item, statement):
                verdict = DISTORTED
            if verdict == DISTORTED:
                return _judged(item, DISTORTED, statement)
            best = _judged(item, KEPT, statement) if verdict == KEPT else best
        best = best if best.verdict == KEPT else self._unnamed(item, claim)
        is_bare = best.verdict == KEPT and item.status != _SUPERSEDED and not self._gives_reason(item)
        return best.replace(verdict=BARE) if is_bare else best

    def _gives_reason(self, item: LedgerItem) -> bool:
        """Whether the reason of a decision is said too, wherever; one in a word or two says little by itself."""
        reason = read(str(item.body.get("rationale") or "")[:_LONGEST_CLAIM]) if item.kind == DECISION else None
        keys = [key for key, term in reason.terms.items() if term.weight >= 1] if reason else []
        return len(keys) < _LEAST_REASON or sum(key in self._where for key in keys) >= _REASON_SAID * len(keys)

    def without_others(self, judged: Judged, stated: set[int]) -> Judged:
        """The verdict; nothing is distorted by a statement that says word for word what another item says."""
        if judged.verdict != DISTORTED or judged.begin not in stated:
            return judged
        statement = self._at(judged.begin)
        is_named = judged.ref in {*statement.refs, statement.led_by}
        return judged if is_named else Judged(judged.ref, MISSING)

    def is_former(self, judged: Judged) -> bool:
        """Whether what was kept is told as what was so before."""
        return is_called_former(self._at(judged.begin).text)

    def _at(self, begin: int) -> Statement:
        return next(statement for statement in self._statements if statement.begin == begin)

    def _named(self, ref: str) -> list[int]:
        return [
            n for n, said in enumerate(self._statements) if ref == said.led_by or (ref in said.refs and not said.led_by)
        ]

    def _unnamed(self, item: LedgerItem, claim: Reading) -> Judged:
        """The verdict by the statements that share most words with the claim and name no other item."""
        shared: dict[int, float] = {}
        for key, term in claim.terms.items():
            places = self._where.get(key, ())
            if len(places) <= self._common:
                for number in places:
                    shared[number] = shared.get(number, 0.0) + term.weight
        best = Judged(item.alias, MISSING)
        for number in sorted(shared, key=lambda number: (-shared[number], number))[:_MOST_CANDIDATES]:
            statement = self._statements[number]
            if statement.led_by or statement.refs & self._refs:
                continue
            verdict = compare(claim, self._readings[number], UNNAMED)
            if verdict == KEPT and not is_called_past(statement.text, claim_of(item)):
                return _judged(item, KEPT, statement)
            if verdict == DISTORTED and best.verdict == MISSING and not is_called_past(statement.text, claim_of(item)):
                best = _judged(item, DISTORTED, statement)
        return best


def _judged(item: LedgerItem, verdict: str, statement: Statement) -> Judged:
    return Judged(item.alias, verdict, statement.begin, statement.end)


def _is_told_done(item: LedgerItem, statement: Statement) -> bool:
    """Whether a statement under its ref says that what is open or in force is not so any more."""
    if len(statement.refs) > 1 or item.status == _SUPERSEDED:
        return False
    return is_called_past(statement.text, claim_of(item)) or (
        item.kind == QUESTION and not is_called_open(statement.text)
    )


def named_in(working_set: WorkingSet, summary: str) -> tuple[Named, ...]:
    """How much of a working set a summary names: files, identifiers, commands, references, errors."""
    words = {word for word, _ in working_set.words}
    words.update(word for file in working_set.files for word, _ in file.words)
    told = {
        "files": [stands_in(file.path.rsplit("/", 1)[-1], summary) for file in working_set.files],
        "commands": [stands_in(command.command, summary) for command in working_set.commands],
        "references": [stands_in(reference, summary) for reference, _ in working_set.references],
        "errors": [stands_in(error, summary) for error, _ in working_set.errors],
    }
    named = [Named(kind, len(found), sum(found)) for kind, found in told.items()]
    named.append(Named("identifiers", len(words), len(words & identifiers(summary))))
    return tuple(one for one in named if one.total)
