"""What a forget takes, and its numbers."""

from __future__ import annotations

from unified_state.archive.text_columns import FreeText
from unified_state.lib.record import Record
from unified_state.model.item import LedgerItem

_MOST_REFS = 12


class ForgetPlan(Record):
    """What a forget takes: numbers of steps and of compactions with a summary, items, and further texts."""

    steps: tuple[int, ...] = ()
    items: tuple[LedgerItem, ...] = ()
    summaries: tuple[int, ...] = ()
    free: tuple[FreeText, ...] = ()

    @property
    def refs(self) -> dict[tuple[str, str], list[str]]:
        """The refs of everything that has one, by what one and several of them are called."""
        return {
            ("item", "items"): [item.alias for item in self.items],
            ("step", "steps"): [f"S{number}" for number in self.steps],
            ("summary", "summaries"): [f"K{number}" for number in self.summaries],
        }

    @property
    def text(self) -> str:
        """What is taken, in a few words: `2 items (D1, E3), 3 steps (S1, S4, S9), 1 notes and other texts`."""
        parts = []
        for (one, several), refs in self.refs.items():
            named = refs if len(refs) <= _MOST_REFS else [f"{', '.join(refs[: _MOST_REFS - 1])} … {refs[-1]}"]
            parts += [f"{len(refs):,} {one if len(refs) == 1 else several} ({', '.join(named)})"] if refs else []
        others = self.counts()["others"]
        parts += [f"{others:,} notes and other texts"] if others else []
        return ", ".join(parts) or "nothing that is archived"

    def counts(self) -> dict[str, int]:
        """Return the numbers. `others` are notes, work items, restored texts and git states."""
        others = sum(not found.is_summary for found in self.free)
        numbers = {"steps": self.steps, "items": self.items, "summaries": self.summaries}
        return {**{name: len(found) for name, found in numbers.items()}, "others": others}
