"""Hindcast cases: real sessions, cut where the client really compacted them, and what the agent then needed.

A case is everything before a compact_boundary, the summary that the client put in its place, and the gold: the entities
that the agent itself writes in its next 60 tool calls and that had occurred before the cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from benchmarks import hindcast_gold as gold_of
from benchmarks.transcripts import Entry, blocks, calls, find_transcripts, is_conversation, parse_all, read_lines, said

NEXT_CALLS = 60  # tool calls after the cut whose inputs and texts are the gold
LEAST_GOLD = 8  # entities; a case with fewer says nothing
LEAST_ENTRIES = 20  # of the conversation before the cut
_BOUNDARY = "compact_boundary"
_BOUNDARY_MARKS = (_BOUNDARY, '"compacted"')  # Claude Code's and Codex's
_SUMMARY_WITHIN = 6  # entries behind a boundary stands its summary


@dataclass
class Case:
    """One compaction: what was before it, the client's summary, the next steps, and what the agent needed in them.

    `number` counts the compactions of a transcript from 0.
    """

    name: str
    number: int
    project: str
    lines: list[str]
    before: list[Entry]
    summary: str
    after: list[Entry] = field(default_factory=list)
    gold: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    next_edits: list[tuple[str, str]] = field(default_factory=list)

    def is_usable(self) -> bool:
        """Whether the hindcast can measure it."""
        return len(self.gold) >= LEAST_GOLD and len(self.before) >= LEAST_ENTRIES

    def lost(self) -> set[str]:
        """The gold that the client's summary does not hold."""
        return {entity for entity in self.gold if not gold_of.holds(self.summary, entity)}


def find_cases(folder: Path) -> Iterator[Case]:
    """The usable compactions of all transcripts in a folder, in a fixed order.

    Sessions that were forked or resumed repeat what was before; each compaction counts once.
    """
    known: set[str] = set()
    for path in find_transcripts(folder):
        name = path.relative_to(folder).as_posix().partition(".jsonl")[0]
        for boundary, case in cases_of(path, name):
            if boundary not in known and case.is_usable():
                known.add(boundary)
                yield case


def cases_of(path: Path, name: str) -> Iterator[tuple[str, Case]]:
    """Each compaction of a transcript that has a summary, with the id of its boundary."""
    lines = read_lines(path)
    if not any(mark in line for line in lines for mark in _BOUNDARY_MARKS):
        return
    entries = parse_all(lines)
    project = _project(entries)
    cuts = [number for number, entry in enumerate(entries) if entry.get("subtype") == _BOUNDARY]
    for number, (cut, following) in enumerate(pairwise([*cuts, len(entries)])):
        before = [entry for entry in entries[:cut] if is_conversation(entry)]
        summary = _summary(entries[cut : cut + _SUMMARY_WITHIN])
        after = list(_next_steps(entries[cut:following]))
        case = Case(f"{name}:{cut}", number, project, lines[:cut], before, summary, after)
        _find_gold(case)
        if case.summary:
            yield entries[cut].get("uuid") or case.name, case


def _find_gold(case: Case) -> None:
    after = case.after
    earlier, later = list(calls(case.before)), list(calls(after))
    seen = "\n".join(map(said, case.before))
    written = gold_of.entities("\n".join(said(entry) for entry in after if entry["type"] == "assistant"))
    case.gold = {entity for entity in written if gold_of.holds(seen, entity)}
    case.gold |= gold_of.programs(earlier) & gold_of.programs(later)
    seen_together = gold_of.seen_pairs(earlier)
    case.pairs = gold_of.edited_pairs(later) & seen_together
    case.next_edits = gold_of.next_edits(later, seen_together)


def _next_steps(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The conversation behind a cut, as far as it is looked at."""
    count = 0
    for entry in entries:
        if count >= NEXT_CALLS:
            return
        if is_conversation(entry) and not entry.get("isCompactSummary"):
            count += sum(block.get("type") == "tool_use" for block in blocks(entry))
            yield entry


def _summary(entries: Iterable[Entry]) -> str:
    return next((said(entry) for entry in entries if entry.get("isCompactSummary")), "")


def _project(entries: Iterable[Entry]) -> str:
    """The name of the folder that a session worked in; the worktrees of a repository are one project."""
    folder = str(next((entry["cwd"] for entry in entries if entry.get("cwd")), "")).replace("\\", "/")
    for worktrees in ("/.worktrees/", "/.claude/worktrees/"):
        folder = folder.partition(worktrees)[0]
    return Path(folder).name
