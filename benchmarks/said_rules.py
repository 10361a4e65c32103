"""How well capture tells rules in prompts from requests: make rules

Prints recall on rules and decisions, and how many one-off requests and other sentences are taken for a rule, each with
its 95 % interval, for the part that the forms were written with and for the part that was kept back. The sentences are
`tests/data/said_rules.jsonl`, a label, source, voice and language each; no source is in both parts.
"""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from unified_state.capture.rules.user_rules import rules_said
from unified_state.model.item import SAID_RULES

SENTENCES = Path(__file__).parents[1] / "tests" / "data" / "said_rules.jsonl"
STANDING, DECISION, ONE_OFF, NO_RULE = "standing", "decision", "one-off", "not-a-rule"
LABELS = (STANDING, DECISION, ONE_OFF, NO_RULE)
PARTS = ("given", "kept")
WRITTEN = "written"
_NORMAL = 1.96


class Said(NamedTuple):
    """One labelled sentence."""

    text: str
    label: str
    part: str
    source: str
    voice: str
    language: str


class Share(NamedTuple):
    """How many of some sentences are taken for a rule."""

    taken: int
    total: int

    @property
    def value(self) -> float:
        return self.taken / self.total if self.total else 0.0

    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 %."""
        if not self.total:
            return 0.0, 1.0
        spread = _NORMAL * sqrt(self.value * (1 - self.value) / self.total + (_NORMAL / (2 * self.total)) ** 2)
        middle, scale = self.value + _NORMAL**2 / (2 * self.total), 1 + _NORMAL**2 / self.total
        return (middle - spread) / scale, (middle + spread) / scale


def labelled() -> list[Said]:
    """All labelled sentences."""
    return [Said(**json.loads(line)) for line in SENTENCES.read_text(encoding="utf-8").splitlines()]


def is_taken(text: str) -> bool:
    """Whether capture takes a sentence for a rule or a decision, which a restore then repeats."""
    return any(fact.rule in SAID_RULES for fact in rules_said(text))


def share(sentences: list[Said]) -> Share:
    """How many of the sentences are taken for a rule."""
    return Share(sum(is_taken(said.text) for said in sentences), len(sentences))


def main() -> None:
    """Print the tables."""
    sentences = labelled()
    for part in PARTS:
        of_part = [said for said in sentences if said.part == part]
        print(f"\n{part}: {len(of_part)} sentences of {len({(said.source, said.voice) for said in of_part})} sources")
        groups = {label: [said for said in of_part if said.label == label] for label in LABELS}
        groups["standing, written for this"] = [said for said in groups[STANDING] if said.source == WRITTEN]
        groups["standing, of public files"] = [said for said in groups[STANDING] if said.source != WRITTEN]
        groups["standing, not English"] = [said for said in groups[STANDING] if said.language != "en"]
        for name, group in groups.items():
            found = share(group)
            low, high = found.interval()
            shown = f"{found.taken:3} of {found.total:3} = {found.value:.3f} ({low:.3f} to {high:.3f})"
            print(f"  {name:28} taken for a rule: {shown}")


if __name__ == "__main__":
    main()
