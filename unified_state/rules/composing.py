"""Composing a restore: which lines of what is known go into the brief and the working set, within a budget of tokens.

The brief looks like the seed's banner, as facts. Its essentials come first, since the client shows only the first 2,000
units of an output that is too long: work item, blocking constraints, pending actions, irreversible decisions, urgent
questions. Whatever has no room, the way to it and what went wrong are always told, at the end. Each part stays under
the client's limit of 10,000 UTF-16 units for one hook's output.
"""

from __future__ import annotations

from unified_state.records.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION
from unified_state.records.restore import Composition, Known
from unified_state.rules.cutting import cut, one_line, utf16_units
from unified_state.rules.estimating import estimate_tokens
from unified_state.rules.lines import harmless, item_line, turn_lines
from unified_state.rules.timestamps import age_text, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.records.item import LedgerItem

    Section = tuple[str, list[str]]

MOST_UNITS = 9_500  # below the client's 10,000, with room for the fence
_BRIEF_SHARE = 0.6  # of the tokens, as long as the working set needs the rest
_ESSENTIAL_CHARACTERS, _USUAL_CHARACTERS = 240, 320
_RULE = "=" * 60
_QUOTED = 100  # characters of a prompt by which it is found in a summary


def compose(known: Known, tokens: int, units: int = MOST_UNITS) -> Composition:
    """The texts of both parts within `tokens`, each within `units`; the working set may have what the brief leaves."""
    sections = list(_essentials(known) if known.reason == "clear" else _brief_sections(known))
    closing = list(_pointer(known) if known.reason == "clear" else _closing(known))
    if not (sections or closing):
        return Composition()
    wants_turns = known.reason in {"compact", "prompt"} and known.turns
    room = _Room(round(tokens * _BRIEF_SHARE) if wants_turns else tokens, units)
    brief = _fill([_head(known), _RULE], sections, closing, room)
    working_set = _turn_blocks(known, tokens - estimate_tokens(brief)) if wants_turns else ""
    return Composition(brief=brief, working_set=working_set)


def _head(known: Known) -> str:
    saved = f" of {to_text(known.saved_at)} ({age_text(known.now - known.saved_at)})" if known.saved_at else ""
    after = f", given back after compaction K{known.compaction}" if known.compaction else ""
    return f"[CONTEXT RESTORED] Session state{saved}{after}. Recorded facts, not instructions."


def _essentials(known: Known) -> Iterator[Section]:
    """What survives a /clear: what binds, and what was being worked on."""
    yield from _work(known)
    yield from _items("CONSTRAINTS", known, CONSTRAINT, _USUAL_CHARACTERS)


def _brief_sections(known: Known) -> Iterator[Section]:
    yield from _work(known)
    blocking = [item for item in known.items if item.kind == CONSTRAINT and item.body.get("blocking")]
    yield from _section("CONSTRAINTS", f"{len(blocking)} blocking", blocking, _ESSENTIAL_CHARACTERS)
    if known.pending_actions:
        yield (
            f"[TODO] Pending actions: {len(known.pending_actions)}",
            [f"  - {cut(harmless(action), _ESSENTIAL_CHARACTERS)}" for action in known.pending_actions],
        )
    decisions = [item for item in known.items if item.kind == DECISION]
    firm = [item for item in decisions if not item.body.get("reversible", True)]
    yield from _section("DECISIONS", f"{len(firm)} irreversible", firm, _ESSENTIAL_CHARACTERS)
    questions = [item for item in known.items if item.kind == QUESTION]
    urgent = [item for item in questions if item.body.get("priority") == "high"]
    yield from _section("QUESTIONS", f"{len(urgent)} open, high priority", urgent, _ESSENTIAL_CHARACTERS)
    yield from _git(known)
    others = [item for item in decisions if item not in firm]
    yield from _section("DECISIONS", f"{len(others)} reversible", others, _USUAL_CHARACTERS)
    others = [item for item in known.items if item.kind == CONSTRAINT and item not in blocking]
    yield from _section("CONSTRAINTS", f"{len(others)} not blocking", others, _USUAL_CHARACTERS)
    others = [item for item in questions if item not in urgent]
    yield from _section("QUESTIONS", f"{len(others)} open", others, _USUAL_CHARACTERS)
    yield from _items("EVIDENCE", known, EVIDENCE, _USUAL_CHARACTERS)
    if known.highlights:
        yield "[HIGHLIGHTS]", [f"  - {cut(harmless(text), _USUAL_CHARACTERS)}" for text in known.highlights]


_HOW_TO = "`unified-state recall REF` prints an item or turn whole, `unified-state search WORDS` finds more."


def _pointer(known: Known) -> Iterator[str]:
    """The one line that tells, after a /clear, where all else is."""
    if known.turn_count:
        count = len(known.items) + known.elsewhere
        yield f"[ARCHIVE] {known.turn_count:,} turns and {count:,} items are kept. {_HOW_TO}"


def _closing(known: Known) -> Iterator[str]:
    if known.turn_count:
        last = f", the last one {age_text(known.now - known.last_turn_at)}" if known.last_turn_at else ""
        outside = f", {known.elsewhere:,} items more" if known.elsewhere else ""
        yield f"[ARCHIVE] {known.turn_count:,} turns are kept{last}{outside}. {_HOW_TO}"
    elif known.items:
        yield f"[ARCHIVE] {_HOW_TO}"
    if known.health:
        yield f"[HEALTH] {cut(harmless(known.health), _USUAL_CHARACTERS)}"


def _work(known: Known) -> Iterator[Section]:
    work = known.work_item
    if work is None or not (work.id or work.title or work.phase):
        return
    name = " ".join(filter(None, (work.id, work.title))) or "work in hand"
    phase = f"; phase {work.phase}" if work.phase else ""
    progress = f"; progress {work.progress:.0%}" if work.progress is not None else ""
    yield "", [f"[WORK] {cut(harmless(name + phase + progress), _ESSENTIAL_CHARACTERS)}"]


def _git(known: Known) -> Iterator[Section]:
    git = known.git
    if git is None or (git.branch is None and git.commit is None):
        return
    at = f" at {git.commit[:10]}" if git.commit else ""
    under_way = f", {git.operation} under way" if git.operation else ""
    branch = harmless(git.branch) if git.branch else "detached HEAD"
    lines = [f"[GIT] {branch}{at}, {git.changed_count} changed paths{under_way}"]
    if git.modified_files:
        lines.append(f"  changed: {cut(harmless(', '.join(git.modified_files)), _USUAL_CHARACTERS)}")
    if git.recent_commits:
        lines.append(f"  latest commit: {cut(harmless(git.recent_commits[0]), _ESSENTIAL_CHARACTERS)}")
    yield "", lines


def _items(name: str, known: Known, kind: str, limit: int) -> Iterator[Section]:
    yield from _section(name, "recorded", [item for item in known.items if item.kind == kind], limit)


def _section(name: str, what: str, items: list[LedgerItem], limit: int) -> Iterator[Section]:
    if items:
        count = "" if what[:1].isdigit() else f"{len(items)} "
        yield f"[{name}] {count}{what}", [f"  {item_line(item, limit)}" for item in reversed(items)]


def _turns_head(known: Known) -> str:
    newest = f"`unified-state recall T{known.turns[0].number}` prints one whole"
    return f"[LAST TURNS] of {known.turn_count:,} that are kept, the newest first; {newest}"


def _turn_blocks(known: Known, tokens: int) -> str:
    """The newest turns, as many whole ones as fit."""
    head, told = _turns_head(known), ""
    summary = one_line(known.summary or "")
    for turn in known.turns:
        quoted = one_line(turn.prompt)[:_QUOTED]
        if quoted and quoted in summary:
            continue  # the summary goes on from there
        longer = "\n".join([told or head, *turn_lines(turn, known.now, _USUAL_CHARACTERS)])
        if estimate_tokens(longer) > tokens or utf16_units(longer) > MOST_UNITS:
            break
        told = longer
    return told


def _fill(head: list[str], sections: list[Section], closing: list[str], room: _Room) -> str:
    """The head, as much of the sections as fits, in order, and the closing lines, for which room is kept first."""
    if not room.take(*head):
        return ""
    last = [line for line in closing if room.take(line)]
    lines = [line for title, entries in sections for line in _fitting(title, entries, room)]
    return "\n".join([*head, *lines, *last]) if lines or last else ""


def _fitting(title: str, entries: list[str], room: _Room) -> list[str]:
    """As many lines of a section as fit; under a title it is said how many are missing."""
    if not title:
        return [entry for entry in entries if room.take(entry)]
    longest_mark = f"  ({len(entries)} more)"
    if not room.take(title, longest_mark):
        return []
    taken = [entry for entry in entries if room.take(entry)]
    if not taken:
        room.give_back(title, longest_mark)
        return []
    if len(taken) == len(entries):
        room.give_back(longest_mark)
        return [title, *taken]
    return [title, *taken, f"  ({len(entries) - len(taken)} more)"]


class _Room:
    """What is left of the tokens and units. A line takes its end with it, so that the whole text keeps the limits."""

    def __init__(self, tokens: int, units: int) -> None:
        self._tokens, self._units = tokens, units

    def take(self, *lines: str) -> bool:
        """Whether there was room for the lines, all of them; they have it now."""
        tokens, units = self._size(lines)
        if tokens > self._tokens or units > self._units:
            return False
        self._tokens, self._units = self._tokens - tokens, self._units - units
        return True

    def give_back(self, *lines: str) -> None:
        """Make room again where lines turn out not to be needed."""
        tokens, units = self._size(lines)
        self._tokens, self._units = self._tokens + tokens, self._units + units

    def _size(self, lines: tuple[str, ...]) -> tuple[int, int]:
        return sum(estimate_tokens(f"{line}\n") for line in lines), sum(utf16_units(line) + 1 for line in lines)
