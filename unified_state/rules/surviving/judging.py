"""Judging a summary: of each item of the state whether it was kept, is missing or is told otherwise."""

from __future__ import annotations

from unified_state.records.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION
from unified_state.records.survival import KEPT, MISSING, Judged, Named, Survival
from unified_state.rules.vocabulary import identifiers, stands_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from unified_state.records.item import LedgerItem
    from unified_state.records.working_set import WorkingSet

CLAIMS = {DECISION: "decision", CONSTRAINT: "constraint", QUESTION: "question", EVIDENCE: "content"}


def judge(items: Iterable[LedgerItem], summary: str) -> Survival:
    """What a summary kept of some items, superseded ones among them."""
    judged = []
    for item in items:
        if item.status == "superseded":
            continue
        place = summary.find(str(item.body[CLAIMS[item.kind]]))
        judged.append(Judged(item.alias, KEPT if place >= 0 else MISSING))
    return Survival(tuple(judged))


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
