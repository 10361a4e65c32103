"""Composing a restore: which lines of what is known go into the brief and the working set, within a budget of tokens.

The brief looks like the seed's banner, as facts. Its essentials come first, since the client shows only the first 2,000
units of an output that is too long: work item, blocking constraints, pending actions, irreversible decisions, urgent
questions. Each part stays under the client's limit of 10,000 UTF-16 units for one hook's output.
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
    sections = list(_essentials(known)) if known.reason == "clear" else list(_brief_sections(known))
    if not sections:
        return Composition()
    wants_turns = known.reason in {"compact", "prompt"} and known.turns
    brief = _fill([_head(known), _RULE], sections, round(tokens * _BRIEF_SHARE) if wants_turns else tokens, units)
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
    if known.turn_count:
        count = len(known.items) + known.elsewhere
        yield "", [f"[ARCHIVE] {known.turn_count:,} turns and {count:,} items are kept. {_HOW_TO}"]


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
    yield from _closing(known)


_HOW_TO = "`unified-state recall REF` prints an item or turn whole, `unified-state search WORDS` finds more."


def _closing(known: Known) -> Iterator[Section]:
    if known.turn_count:
        last = f", the last one {age_text(known.now - known.last_turn_at)}" if known.last_turn_at else ""
        outside = f", {known.elsewhere:,} items more" if known.elsewhere else ""
        yield "", [f"[ARCHIVE] {known.turn_count:,} turns are kept{last}{outside}. {_HOW_TO}"]
    elif known.items:
        yield "", [f"[ARCHIVE] {_HOW_TO}"]
    if known.health:
        yield "", [f"[HEALTH] {known.health}"]


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
    lines = [f"[GIT] {git.branch or 'detached HEAD'}{at}, {git.changed_count} changed paths{under_way}"]
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
    text = _turns_head(known)
    said = one_line(known.summary or "")
    for turn in known.turns:
        if said and one_line(turn.prompt)[:_QUOTED] in said:
            continue  # the summary quotes it, and goes on from there
        longer = "\n".join([text, *turn_lines(turn, known.now, _USUAL_CHARACTERS)])
        if estimate_tokens(longer) > tokens or utf16_units(longer) > MOST_UNITS:
            break
        text = longer
    return text


def _fill(head: list[str], sections: list[Section], tokens: int, most_units: int) -> str:
    """The head and as many lines as fit, in order; a section that is cut says how many of its lines are missing."""
    lines = list(head)
    used, units = sum(map(estimate_tokens, lines)), sum(map(utf16_units, lines)) + len(lines)
    for title, entries in sections:
        taken = [title] if title else []
        missing = 0
        for entry in entries:
            size = sum(map(estimate_tokens, [*taken, entry]))
            length = sum(utf16_units(line) + 1 for line in [*taken, entry])
            if used + size > tokens or units + length > most_units:
                missing += 1
                continue
            lines += [*taken, entry]
            used, units, taken = used + size, units + length, []
        if missing and not taken:
            lines.append(f"  ({missing} more)")
    return "\n".join(lines) if len(lines) > len(head) else ""
