"""Items that repeat or contradict each other, items that nobody recalled, and results of tests that are older than the
last edit of what they tested.
"""

from __future__ import annotations

from unified_state.agents.transcripts.rules.call_effects import read_call
from unified_state.capture.rules.failed_calls import is_failed_check
from unified_state.lib.identifiers import relative_path
from unified_state.lib.record import Record
from unified_state.lib.times import age_text, to_milliseconds
from unified_state.memory.archive.steps import calls_that_went_well, find_step, was_accessed
from unified_state.memory.ledger.item_table import ACTIVE, contradictions
from unified_state.memory.ledger.rules.contradictions import CONTRADICTS
from unified_state.memory.ledger.rules.short_item import is_captured, main_text
from unified_state.memory.ledger.source_table import entry_steps
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, EVIDENCE
from unified_state.upkeep.audit.rules.alike import SAME, alike
from unified_state.upkeep.audit.rules.mend import (
    CONTRADICTION,
    DUPLICATE,
    NEVER_RECALLED,
    STALE_RESULT,
    Finding,
    end_command,
    second_of,
    settle_command,
    shown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem

_RULES = (DECISION, CONSTRAINT)
_UNUSED_AFTER = 30 * 86_400_000  # milliseconds


def related(archive: Archive, items: Sequence[LedgerItem]) -> Iterator[Finding]:
    """Yield the items that repeat or contradict another one: by the links of the ledger, and by their words.

    Evidence and captured attempts repeat each other only in the very same words. Of proposals only repetitions count:
    the user has still to decide on them.
    """
    linked = contradictions(archive)
    by_ref = {item.alias: item for item in items}
    pairs = {frozenset((item.alias, ref)) for item in items for ref in linked.get(item.uuid, ()) if ref in by_ref}
    for one, other, is_opposite in _pairs(items):
        if is_opposite:
            pairs.add(frozenset((one.alias, other.alias)))
        else:
            kept, left = second_of(one, other)
            yield Finding(DUPLICATE, left.alias, f"says the same as {shown(kept)}", end_command(left))
    for first, second in sorted(sorted(pair) for pair in pairs):
        command = settle_command(by_ref[first], by_ref[second])
        yield Finding(CONTRADICTION, first, f"contradicts {shown(by_ref[second])}", command)


def _pairs(items: Sequence[LedgerItem]) -> Iterator[tuple[LedgerItem, LedgerItem, bool]]:
    """Yield two items and whether they contradict each other; if not, they say the same."""
    for _, group in sorted(_groups(items).items()):
        texts = [main_text(item) for item in group]
        for first, second, relation in alike(texts):
            one, other = group[first], group[second]
            is_opposite = relation == CONTRADICTS
            if is_opposite:
                counts = one.kind in _RULES and one.status == other.status == ACTIVE
            else:
                counts = one.kind == other.kind and (relation == SAME or not _is_verbatim(one))
            if counts and not _replaces(one, other):
                yield one, other, is_opposite


def _groups(items: Sequence[LedgerItem]) -> dict[str, list[LedgerItem]]:
    """Return the items by what they are compared with: rules with each other, all others within their kind."""
    groups: dict[str, list[LedgerItem]] = {}
    for item in items:
        beside = [
            str(item.body.get(name)) for name in ("type", "source", "outcome") if item.kind in (EVIDENCE, ATTEMPT)
        ]
        kind = " ".join([item.kind, *beside])
        groups.setdefault("rule" if item.kind in _RULES else kind, []).append(item)
    return groups


def _is_verbatim(item: LedgerItem) -> bool:
    return item.kind == EVIDENCE or is_captured(item)


def _replaces(one: LedgerItem, other: LedgerItem) -> bool:
    """Return whether one of two items is recorded as the successor of the other."""
    return one.superseded_by == other.uuid or other.superseded_by == one.uuid


def without_use(archive: Archive, items: Sequence[LedgerItem], now: int) -> Iterator[Finding]:
    """Yield the recorded items that left the state file a month ago or more, and that nobody looked up.

    Looking up an item counts as an access to the passage that it comes from. Of an item without one it is not known.
    """
    for item in items:
        since = to_milliseconds(item.paged_out_at or "")
        is_judged = item.status == ACTIVE and item.source_uuid is not None and not is_captured(item)
        if not is_judged or since is None or now - since < _UNUSED_AFTER or item.kind == CONSTRAINT:
            continue
        steps = entry_steps(archive, item.source_uuid or "")
        if steps and not was_accessed(archive, steps):
            why = f"left the state file {age_text(now, since)}, and nobody looked it up"
            yield Finding(NEVER_RECALLED, item.alias, why, end_command(item))


_EDITING = ("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch")
_MOST_EDITS = 2_000  # the newest
_RESULTS = ("error", "output", "command")
_SHELLS = ("Bash: ", "exec_command: ", "shell: ")
_NO_CODE = (".md", ".txt", ".rst", ".json", ".lock", ".csv", ".log")
_SHOWN = 60  # characters of a command


class Edited(Record):
    """The last edit of a file: when, and in which turn."""

    path: str
    at: int
    turn: int


def stale_results(archive: Archive, items: Sequence[LedgerItem]) -> Iterator[Finding]:
    """Yield the results of checks that were edited after.

    A result is about the files that it names, else about the paths of its command, else about all code.
    """
    results = [(item, command) for item in items if item.status == ACTIVE and (command := _check_of(item))]
    if not results:
        return
    edits = _last_edits(archive)
    for item, command in results:
        at = to_milliseconds(item.created_at) or 0
        newer = [edit for edit in edits if edit.at > at and _is_tested(edit.path, item, command)]
        if newer:
            last = newer[0]
            shown = command if len(command) <= _SHOWN else f"{command[:_SHOWN]}…"
            why = f"`{shown}` ran before the last edit of {last.path} (T{last.turn})"
            yield Finding(STALE_RESULT, item.alias, why, end_command(item))


def _check_of(item: LedgerItem) -> str:
    """Return the command of a check whose result an item is, or ""."""
    if item.kind != EVIDENCE or item.body.get("type") not in _RESULTS:
        return ""
    source = str(item.body.get("source") or "")
    for shell in _SHELLS:
        source = source.removeprefix(shell)
    return source if is_failed_check(source, str(item.body.get("content") or "")) else ""


def _is_tested(path: str, item: LedgerItem, command: str) -> bool:
    if path.endswith(_NO_CODE):
        return False
    if item.files:
        return any(path == name or path.endswith(f"/{name}") for name in item.files)
    folders = [part for word in command.split() if (part := _folder(word))]
    return not folders or any(path.startswith(folder) for folder in folders)


def _folder(word: str) -> str:
    """Return the beginning of the paths that an argument of a check names, or "" if it names none."""
    if "/" not in word or word.startswith(("-", "/", "~", "http")) or "=" in word:
        return ""
    return word.removeprefix("./").partition("::")[0].removesuffix("...")


def _last_edits(archive: Archive) -> list[Edited]:
    """Return the last edit of each file, the newest first. Edits that failed do not count."""
    found: dict[str, Edited] = {}
    for number, at, turn, root in calls_that_went_well(archive, _EDITING, _MOST_EDITS):
        step = find_step(archive, number)
        for change in read_call(step).changes if step is not None else ():
            path = relative_path(change.path, root or "")
            if path not in found or found[path].at < at:
                found[path] = Edited(path, at, turn)
    return sorted(found.values(), key=lambda edit: edit.at, reverse=True)
