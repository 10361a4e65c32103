"""Compose a restore: choose the lines of the brief and of the working set under one token budget.

State, turns and working set compete by worth for each token. No part has a fixed share. The client limits each part to
10,000 UTF-16 units, because a separate hook prints each part.
"""

from __future__ import annotations

from unified_state.lib.text import estimate_tokens, utf16_units
from unified_state.memory.ledger.rules.item_lines import harmless
from unified_state.model.hook_event import BRIEF, WORKING_SET
from unified_state.model.known import Composition, Known
from unified_state.restore.rules.brief_lines import (
    brief_sections,
    closing,
    head,
    pointer,
    refs_to_tell,
    sections_after_clear,
    told_refs,
    untold_line,
)
from unified_state.restore.rules.hand_over_lines import FOUND_TITLE, RAN_TITLE, found_lines, run_lines
from unified_state.restore.rules.knapsack import Group, Room, choose
from unified_state.restore.rules.working_set_lines import STORY_HEAD, WorkingLines, story

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.restore.rules.knapsack import Offer

MOST_UNITS = 9_500  # below the client's 10,000, with room for the fence
_RULE = "=" * 60
_WORKING_SET_HEAD = "[WORKING SET] files: names in them"
_HANDED_OVER = 2_000.0  # tokens of the work of another host's session
_LONGEST_TITLE = 200
_LEAST = 0.1  # worth of a token after a compaction; below it a shorter restore is the better one
_LATER = 0.97  # factor on the worth from each line of a section to the next


def compose(known: Known, tokens: float, units: int = MOST_UNITS) -> Composition:
    """Return the texts of both parts, within `tokens` together and within `units` each."""
    sections = list(sections_after_clear(known) if known.reason == "clear" else brief_sections(known))
    last = list(pointer(known) if known.reason == "clear" else closing(known))
    if not (sections or last):
        return Composition()
    room = Room(tokens, {BRIEF: units, WORKING_SET: units})
    first = [head(known), _RULE]
    if not all(room.take_line(BRIEF, line) for line in first):
        return Composition()
    last = [line for line in last if room.take_line(BRIEF, line)]
    refs = refs_to_tell(known)
    has_refs = bool(refs) and room.take_line(BRIEF, untold_line(refs))
    brief = [_Section(BRIEF, title, _fading(lines, worth)) for title, lines, worth in sections]
    ran, turns = _Section(WORKING_SET, RAN_TITLE, []), _Section(WORKING_SET, STORY_HEAD, [])
    working_lines, absent = None, ""
    if known.reason in {"compact", "prompt", "subagent"}:
        summary = known.summary or ""
        brief.append(_Section(BRIEF, FOUND_TITLE, found_lines(known.recent, summary), least=_LEAST))
        ran = _Section(WORKING_SET, RAN_TITLE, run_lines(known.recent, summary), least=_LEAST)
        turns = _Section(WORKING_SET, STORY_HEAD, list(story(known)), least=_LEAST)
        if known.working_set is not None and room.take_line(WORKING_SET, _WORKING_SET_HEAD):
            gone, least = (name for name, _ in known.recent.gone), 0 if known.reason == "subagent" else _LEAST
            working_lines = WorkingLines(known.working_set, summary, gone, least=least)
            line = working_lines.absent_line()
            absent = line if line and room.take_line(WORKING_SET, line) else ""
    named = {f"section {number}": section for number, section in enumerate([*brief, ran, turns])}
    offers = [offer for name, section in named.items() for offer in section.offers(name)]
    offers += working_lines.offers() if working_lines else []
    groups = {name: section.group for name, section in named.items()}
    choose(offers, {**groups, **(working_lines.groups if working_lines else {})}, room)
    work = [*(working_lines.lines() if working_lines else []), *([absent] if absent else [])]
    told = [line for section in brief for line in section.lines()]
    in_full = set(told_refs(told, refs))
    left = [ref for ref in refs if ref not in in_full]
    told += [untold_line(left)] if has_refs and left else []
    return Composition(
        brief="\n".join([*first, *told, *last]) if told or last else "",
        working_set="\n".join([*ran.lines(), *([_WORKING_SET_HEAD] if work else []), *work, *turns.lines()]),
    )


def hand_over(known: Known, tokens: float) -> Composition:
    """Return the state for a new session, and after it the work of the session that it continues, as one text.

    The work has the room that the state leaves, up to a limit. A host prints this text with one hook.
    """
    brief = compose(known, tokens).brief
    left = min(_HANDED_OVER, tokens - estimate_tokens(brief))
    work = Known(reason="prompt", now=known.now, turns=known.turns, working_set=known.working_set, recent=known.recent)
    found = compose(work, left, max(0, MOST_UNITS - utf16_units(brief) - _LONGEST_TITLE)).working_set
    title = f"[LAST SESSION] in {harmless(known.handed_over)}, which ended like this:"
    return Composition(brief="\n".join([*filter(None, [brief]), title, found]) if found else brief)


def _fading(lines: list[str], worth: float) -> list[tuple[str, float]]:
    """Return the lines of a section with their worth."""
    return [(line, worth * _LATER**position) for position, line in enumerate(lines)]


class _Section:
    """One section as offers, one for each line. Without `least` it shows how many of its lines are missing."""

    def __init__(self, part: str, title: str, lines: list[tuple[str, float]], *, least: float | None = None) -> None:
        self._title, self._worths = title, lines
        self._is_counted = least is None and bool(title)
        self.group = Group(part, f"{title}\n{_mark(len(lines))}" if self._is_counted else title, least=least or 0.0)

    def offers(self, name: str) -> list[Offer]:
        return [
            (worth, estimate_tokens(f"{line}\n"), utf16_units(line) + 1, name, line) for line, worth in self._worths
        ]

    def lines(self) -> list[str]:
        lines = [line for line, _ in self._worths]
        chosen = sorted(self.group.texts, key=lines.index)
        missing = len(lines) - len(chosen)
        mark = [_mark(missing)] if self._is_counted and missing else []
        return [*([self._title] if self._title else []), *chosen, *mark] if chosen else []


def _mark(missing: int) -> str:
    return f"  ({missing} more)"
