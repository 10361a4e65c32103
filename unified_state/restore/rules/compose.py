"""Composing a restore: which lines of what is known go into the brief and the working set, under one budget of tokens.

State, story and working set compete by what they are worth for their tokens; nothing has a share of its own. Only each
part's output is limited by itself: to the client's 10,000 UTF-16 units for one hook.
"""

from __future__ import annotations

from unified_state.lib.text import estimate_tokens, utf16_units
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
from unified_state.restore.rules.knapsack import Group, Room, choose
from unified_state.restore.rules.working_set_lines import STORY_HEAD, WorkingLines, story

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.restore.rules.brief_lines import Section
    from unified_state.restore.rules.knapsack import Offer

MOST_UNITS = 9_500  # below the client's 10,000, with room for the fence
_RULE = "=" * 60
_WORKING_SET_HEAD = "[WORKING SET] files: identifiers in them, most used first"
_LATER = 0.97  # of the worth of a line is that of the next one in its section


def compose(known: Known, tokens: float, units: int = MOST_UNITS) -> Composition:
    """The texts of both parts within `tokens` together, each within `units`."""
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
    brief = _Brief(sections)
    work = _Work(known, room)
    choose([*brief.offers(), *work.offers()], {**brief.groups, **work.groups}, room)
    told = brief.lines()
    left = [ref for ref in refs if ref not in told_refs(told, refs)]
    told += [untold_line(left)] if has_refs and left else []
    return Composition(
        brief="\n".join([*first, *told, *last]) if told or last else "",
        working_set="\n".join(work.lines()),
    )


class _Brief:
    """The sections of the brief as offers, a line each; a section that is told in part says how much is missing."""

    def __init__(self, sections: list[Section]) -> None:
        self._sections = {f"section {number}": section for number, section in enumerate(sections)}
        self.groups: dict[str, Group] = {}
        for name, (title, lines, _) in self._sections.items():
            self.groups[name] = Group(BRIEF, f"{title}\n{_mark(len(lines))}" if title else "")

    def offers(self) -> list[Offer]:
        return [
            (worth * _LATER**position, estimate_tokens(f"{line}\n"), utf16_units(line) + 1, name, line)
            for name, (_, lines, worth) in self._sections.items()
            for position, line in enumerate(lines)
        ]

    def lines(self) -> list[str]:
        told: list[str] = []
        for name, (title, lines, _) in self._sections.items():
            chosen = sorted(self.groups[name].texts, key=lines.index)
            if chosen and title:
                missing = len(lines) - len(chosen)
                told += [title, *chosen, *([_mark(missing)] if missing else [])]
            else:
                told += chosen
        return told


class _Work:
    """The working set and the last turns as offers, where a session needs them again."""

    def __init__(self, known: Known, room: Room) -> None:
        self._story: list[tuple[str, float]] = []
        self._lines = None
        self.groups: dict[str, Group] = {}
        if known.reason not in {"compact", "prompt", "subagent"}:
            return
        if known.working_set is not None and room.take_line(WORKING_SET, _WORKING_SET_HEAD):
            self._lines = WorkingLines(known.working_set, known.summary or "")
            self.groups.update(self._lines.groups)
        self._story = list(story(known))
        self.groups["story"] = Group(WORKING_SET, STORY_HEAD)

    def offers(self) -> list[Offer]:
        offers: list[Offer] = [
            (worth, estimate_tokens(f"{text}\n"), utf16_units(text) + 1, "story", text) for text, worth in self._story
        ]
        if self._lines is not None:
            offers += self._lines.offers()
            self.groups.update(self._lines.groups)
        return offers

    def lines(self) -> list[str]:
        told = list(self._lines.lines()) if self._lines is not None else []
        lines = [_WORKING_SET_HEAD, *told] if told else []
        texts = [text for text, _ in self._story]
        turns = sorted(self.groups["story"].texts, key=texts.index) if self._story else []
        return [*lines, STORY_HEAD, *turns] if turns else lines


def _mark(missing: int) -> str:
    return f"  ({missing} more)"
