"""What a forget takes, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.archive.text_columns import FreeText
from unified_state.lib.record import Record
from unified_state.model.item import LedgerItem

_MOST_REFS = 12


class Forgotten(Record):
    """The number of forgotten records. `others` are notes, work items, restored texts and git states."""

    steps: int = 0
    items: int = 0
    summaries: int = 0
    others: int = 0


class Found(Record):
    """What a forget takes: numbers of steps and of compactions with a summary, items, and further texts."""

    steps: tuple[int, ...] = ()
    items: tuple[LedgerItem, ...] = ()
    summaries: tuple[int, ...] = ()
    free: tuple[FreeText, ...] = ()

    @property
    def refs(self) -> list[str]:
        """The refs of everything that has one."""
        return [
            *(item.alias for item in self.items),
            *(f"S{number}" for number in self.steps),
            *(f"K{number}" for number in self.summaries),
        ]

    @property
    def text(self) -> str:
        """What is taken, in a few words: `2 items (D1, E3), 3 steps (S1, S4, S9), 1 note or other text`."""
        counts = self.counts()
        kinds = {"item": counts.items, "step": counts.steps, "summary": counts.summaries}
        refs = iter(self.refs)
        parts = [_counted(kind, number, [next(refs) for _ in range(number)]) for kind, number in kinds.items()]
        others = [f"{counts.others:,} notes and other texts"] if counts.others else []
        return ", ".join([*filter(None, parts), *others]) or "nothing that is archived"

    def counts(self) -> Forgotten:
        """Return the numbers."""
        others = sum(not found.is_summary for found in self.free)
        return Forgotten(len(self.steps), len(self.items), len(self.summaries), others)


def _counted(kind: str, number: int, refs: Sequence[str]) -> str:
    """Return `2 steps (S1, S4)`, or "" for none. Of many refs, the first and the last are named."""
    if not number:
        return ""
    kinds = kind if number == 1 else f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    named = ", ".join(refs) if number <= _MOST_REFS else f"{', '.join(refs[: _MOST_REFS - 1])} … {refs[-1]}"
    return f"{number:,} {kinds} ({named})"
