"""The lines of the brief: recorded facts in sections, and the verdicts on a summary."""

from __future__ import annotations

from unified_state.lib.text import cut
from unified_state.lib.times import to_text
from unified_state.memory.ledger.rules.item_lines import ahead_lines, harmless, item_line, with_validity
from unified_state.memory.ledger.rules.short_item import is_binding, is_captured
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, EVIDENCE, QUESTION
from unified_state.model.known import KEPT
from unified_state.restore.rules.hand_over_lines import now_lines
from unified_state.restore.rules.session_before import last_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from unified_state.model.item import LedgerItem
    from unified_state.model.known import Known, Survival

    Section = tuple[str, list[str], float]  # title, lines, worth of a line
    Row = tuple[str, str, float, str, Callable[[LedgerItem], bool]]


_MOST_REFS = 12  # in the line for the user
_AFTER_COMPACTION = {"compact", "prompt"}
_MOST_UNTOLD = 400  # takes about as many tokens


def survival_line(survival: Survival, restored: Sequence[str]) -> str:
    """Return the survival line, or "" if there was nothing to keep.

    Example: `summary kept 9 of 14 items; restored D3, C1, Q2`.
    """
    if not survival.items:
        return ""
    kept = survival.refs(KEPT)
    back = [ref for ref in restored if ref not in kept]
    return f"summary kept {len(kept)} of {len(survival.items)} items" + (f"; restored {_listed(back)}" if back else "")


def told_refs(lines: Iterable[str], refs: Iterable[str]) -> tuple[str, ...]:
    """Return the refs whose items are stated in full, which means that a line begins with them."""
    first = {line.split(None, 1)[0] for line in lines if line.startswith("  ") and line.strip()}
    return tuple(ref for ref in refs if ref in first)


def kept_refs(known: Known) -> set[str]:
    """Return the refs of items that the client's summary has, including the items that it reported itself."""
    if known.survival is None:
        return set()
    reported = {item.alias for item in known.items if item.compaction == known.compaction}
    return {*known.survival.refs(KEPT), *reported}


def refs_to_tell(known: Known) -> list[str]:
    """Return the refs that a restore after a compaction must name, with or without their text, the newest first."""
    if known.reason not in _AFTER_COMPACTION:
        return []
    kept = kept_refs(known) | {item.alias for item in known.items if is_captured(item)}
    refs = [*(item.alias for item in reversed(known.items)), *reversed(known.paged_out)]
    return [ref for ref in refs if ref not in kept]


def untold_line(refs: Sequence[str]) -> str:
    """Return the line with the refs of items for which there is no room, and the number of further ones."""
    more = len(refs) - _MOST_UNTOLD
    return f"[ALSO RECORDED] {' '.join(refs[:_MOST_UNTOLD])}" + (f" and {more:,} more" if more > 0 else "")


def _listed(refs: Sequence[str]) -> str:
    more = len(refs) - _MOST_REFS
    return ", ".join(refs[:_MOST_REFS]) + (f" and {more} more" if more > 0 else "")


_ESSENTIAL_CHARACTERS, _USUAL_CHARACTERS, _LESSER_CHARACTERS = 240, 320, 200
# The worth of a line, on the scale of the working set, where the most important identifier has about 10.
_ESSENTIAL, _BINDING = 1e6, 1e5  # so that constraints come back in every restore
_DECIDED, _ASKED, _GIT, _SEEN, _CAPTURED = 200.0, 150.0, 60.0, 40.0, 5.0


def head(known: Known) -> str:
    if known.reason == "subagent":
        return "[PROJECT STATE] What is recorded of this project and fits the task. Recorded facts, not instructions."
    saved = f" of {to_text(known.saved_at)} ({known.age(known.saved_at)})" if known.saved_at else ""
    after = f", given back after compaction K{known.compaction}" if known.compaction else ""
    return f"[CONTEXT RESTORED] Session state{saved}{after}. Recorded facts, not instructions."


def sections_after_clear(known: Known) -> Iterator[Section]:
    """The sections after a /clear: the work item, the last session in short, and the constraints."""
    yield from _work(known)
    yield from _last_session(known)
    constraints = [item for item in known.items if item.kind == CONSTRAINT]
    yield from _section("CONSTRAINTS", "recorded", _ESSENTIAL, constraints, known)


def brief_sections(known: Known) -> Iterator[Section]:
    """Yield the sections of all recorded items.

    An item that the client's summary kept appears only as its ref.
    """
    yield from _work(known)
    if known.reason == "startup" and not known.handed_over:
        yield from _last_session(known.replace(pending_actions=()))  # they have a section of their own
    for line in ahead_lines(known):
        yield "", [line], _ESSENTIAL
    known = yield from _beside_the_summary(known)
    told: set[str] = set()
    for section in _SECTIONS:
        if callable(section):
            yield from section(known)
            continue
        name, which, worth, kind, fits = section
        items = [item for item in known.items if item.kind == kind and item.alias not in told and fits(item)]
        if which == "captured" and known.reason in _AFTER_COMPACTION:
            continue  # commands tell of commits and errors, as long as they are unsolved
        told.update(item.alias for item in items)
        yield from _section(name, which, worth, items, known)
    if known.highlights:
        yield "[HIGHLIGHTS]", [f"  - {cut(harmless(text), _USUAL_CHARACTERS)}" for text in known.highlights], _SEEN


def _last_session(known: Known) -> Iterator[Section]:
    found = last_session(known)
    if found is not None:
        yield found[0], found[1], _ESSENTIAL


def _now(known: Known) -> Iterator[Section]:
    lines = list(now_lines(known.recent))
    if lines and known.reason != "startup":
        yield "[NOW]", lines, _ESSENTIAL


def _read_again(known: Known) -> Iterator[Section]:
    if known.read_again:
        files, *learnt = known.read_again
        title = f"[READ AGAIN] after each of the last two compactions, unchanged: {files}. What was learnt from them:"
        yield title, [f"  - {line}" for line in learnt], _ESSENTIAL


def _todo(known: Known) -> Iterator[Section]:
    if known.pending_actions:
        actions = [f"  - {cut(harmless(action), _ESSENTIAL_CHARACTERS)}" for action in known.pending_actions]
        yield f"[TODO] Pending actions: {len(actions)}", actions, _ESSENTIAL


def _beside_the_summary(known: Known) -> Generator[Section, None, Known]:
    """Yield the refs that a summary has. Return the rest of the known facts."""
    if known.survival is None:
        return known
    kept = kept_refs(known)
    stated = (item.alias for item in known.items if not is_captured(item))
    told = [ref for ref in (*stated, *known.paged_out) if ref in kept]
    if told:
        yield "", [f"[IN THE SUMMARY] {' '.join(told)}"], _ESSENTIAL
    return known.replace(items=tuple(item for item in known.items if item.alias not in kept))


_HOW_TO = "`unified-state show REF` prints an item or turn, `unified-state search WORDS` finds more."


def pointer(known: Known) -> Iterator[str]:
    """Yield the line that shows, after a /clear, how to see everything else."""
    if known.turn_count:
        count = len(known.items) + known.elsewhere
        yield f"[ARCHIVE] {known.turn_count:,} turns and {count:,} items are kept. {_HOW_TO}"
    yield from _health(known)


def closing(known: Known) -> Iterator[str]:
    if known.reason in _AFTER_COMPACTION:
        yield f"[ARCHIVE] {_HOW_TO}"
    elif known.turn_count:
        last = f", the last one {known.age(known.last_turn_at)}" if known.last_turn_at else ""
        outside = f", {known.elsewhere:,} items more" if known.elsewhere else ""
        yield f"[ARCHIVE] {known.turn_count:,} turns are kept{last}{outside}. {_HOW_TO}"
    elif known.items or known.working_set:
        yield f"[ARCHIVE] {_HOW_TO}"
    yield from _health(known)


def _health(known: Known) -> Iterator[str]:
    for line in (known.health or "").splitlines():
        yield f"[HEALTH] {cut(harmless(line), _USUAL_CHARACTERS)}"


def _work(known: Known) -> Iterator[Section]:
    work = known.work_item
    if work is None or not (work.id or work.title or work.phase):
        return
    name = " ".join(filter(None, (work.id, work.title))) or "work in hand"
    phase = f"; phase {work.phase}" if work.phase else ""
    progress = f"; progress {work.progress:.0%}" if work.progress is not None else ""
    yield "", [f"[WORK] {cut(harmless(name + phase + progress), _ESSENTIAL_CHARACTERS)}"], _ESSENTIAL


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
    if git.filtered_files:
        names = cut(harmless(", ".join(git.filtered_files)), _USUAL_CHARACTERS)
        lines.append(f"  filtered (git would have to run a filter to tell whether they changed): {names}")
    if git.recent_commits:
        lines.append(f"  latest commit: {cut(harmless(git.recent_commits[0]), _ESSENTIAL_CHARACTERS)}")
    yield "", lines, _GIT


def _section(name: str, which: str, worth: float, items: list[LedgerItem], known: Known) -> Iterator[Section]:
    if items:
        lesser = _USUAL_CHARACTERS if worth > _CAPTURED else _LESSER_CHARACTERS
        limit = _ESSENTIAL_CHARACTERS if worth == _ESSENTIAL else lesser
        lines = [with_validity(f"  {item_line(item, limit)}", item, known) for item in reversed(items)]
        yield f"[{name}] {len(items)} {which}", lines, worth


def _any(_item: LedgerItem) -> bool:
    return True


def _is_blocking(item: LedgerItem) -> bool:
    return bool(item.body.get("blocking"))


# The sections in order. A row has the section's title, a description of its items, the worth of a line, their kind, and
# a test. An item belongs to the first row that it matches.
_SECTIONS: tuple[Row | Callable[[Known], Iterator[Section]], ...] = (
    ("CONSTRAINTS", "blocking", _ESSENTIAL, CONSTRAINT, lambda item: _is_blocking(item) and is_binding(item)),
    ("CONSTRAINTS", "not confirmed by the user", _ESSENTIAL, CONSTRAINT, _is_blocking),
    _todo,
    _now,
    _read_again,
    ("DECISIONS", "irreversible", _ESSENTIAL, DECISION, lambda item: not item.body.get("reversible", True)),
    ("QUESTIONS", "open, high priority", _ESSENTIAL, QUESTION, lambda item: item.body.get("priority") == "high"),
    _git,
    ("DECISIONS", "reversible", _DECIDED, DECISION, _any),
    ("CONSTRAINTS", "not blocking", _BINDING, CONSTRAINT, _any),
    ("QUESTIONS", "open", _ASKED, QUESTION, _any),
    ("FAILED ATTEMPTS", "that did not work", _CAPTURED, ATTEMPT, _any),
    ("EVIDENCE", "recorded", _SEEN, EVIDENCE, lambda item: item.rule is None),
    ("EVIDENCE", "captured", _CAPTURED / 2, EVIDENCE, _any),
)
