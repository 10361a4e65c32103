"""Prune old steps: delete their content from the archive to save space. The rows stay, so that neither their refs nor
their transcript entries are created again.

Only the user prunes. Nothing else deletes by age, size or use, and no hook, variable or file of a repository can
request it. Pruned steps are not forgotten elsewhere, and servers keep them. A step that is the source of an item, or
that an item or a note quotes or names (S12, T41), is evidence and always stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.archive.archive import BODY_SIZE, Archive
from unified_state.archive.steps import uuid_key
from unified_state.archive.text_columns import forget_step, rewrite_index
from unified_state.errors import UsageError
from unified_state.ledger.rules.short_item import may_decide
from unified_state.lib.json_text import parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import strings_of, unpack
from unified_state.lib.times import to_text
from unified_state.model.refs import TURN, step_refs
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.rules.query_dates import begin_of
from unified_state.upkeep.forget.unfinished import finish, in_parts, note_unfinished

# Steps that the server in use does not have yet do not count as old.
_OLD = f"""
SELECT step.id, {BODY_SIZE}, session, step.at FROM step JOIN turn ON turn.id = step.turn
WHERE kind NOT NULL AND step.at < ?1 AND step.id NOT IN (SELECT step FROM unnoted)
    AND step.id <= coalesce((SELECT step FROM outbox_server ORDER BY began_at DESC LIMIT 1), step.id)
"""


class PruneResult(Record):
    """The steps of a prune: number, bytes, sessions, times, and the lowest and the highest ref.

    `kept` counts equally old steps that stay as evidence. `archive_bytes` is the current size of the archive's file, or
    of the journal, and `free_bytes` how much of it new records fill.
    """

    steps: int
    bytes: int
    sessions: int
    first: str | None
    last: str | None
    kept: int
    archive_bytes: int
    first_step: int | None = None
    last_step: int | None = None
    free_bytes: int = 0
    is_done: bool = False


def older_than(age: str, now: int) -> int:
    """Return the time before which a step is older than an age (`180d`) or a date (`2026-01-01`). Raises UsageError."""
    before = begin_of(age, now) if age.strip() else None
    if before is None or before > now:
        message = f"invalid --older-than {age[:60]!r}"
        raise UsageError(message, "for example 180d, 2026-01-01")
    return before


def preview(workspace: Workspace, before: int) -> PruneResult:
    """Return the result that a prune of the steps from before a time would have."""
    return workspace.use(lambda archive: choose_steps(archive, before)[0])


def prune(workspace: Workspace, before: int) -> PruneResult:
    """Prune the steps from before a time. An interrupted prune keeps its progress."""
    if not may_decide(workspace.origin):
        message = "only the user prunes"
        raise UsageError(message, "ask them to run this in a terminal of their own; --dry-run shows what would go")

    def action(archive: Archive) -> PruneResult:
        chosen, numbers = choose_steps(archive, before)
        prune_steps(archive, numbers)
        finish(archive)
        return chosen.replace(is_done=True, archive_bytes=archive.size(), free_bytes=free_bytes(archive))

    return workspace.use(action)


def choose_steps(archive: Archive, before: int) -> tuple[PruneResult, Sequence[int]]:
    """Return the result of a prune, and the numbers of the steps that it takes."""
    evidence, old = _evidence(archive), archive.rows(_OLD, before)
    chosen = [row for row in old if row[0] not in evidence]
    numbers, sizes, sessions, times = zip(*chosen, strict=True) if chosen else ([], [], [], [])
    first, last = (to_text(end(times)) if times else None for end in (min, max))
    ends = min(numbers, default=None), max(numbers, default=None)
    counts = len(numbers), sum(sizes), len(set(sessions)), first, last, len(old) - len(chosen)
    return PruneResult(*counts, archive.size(), *ends, free_bytes(archive)), numbers


def prune_steps(archive: Archive, numbers: Sequence[int]) -> None:
    """Prune the steps of a choice."""
    version: int | None = None
    evidence: set[int] = set()

    def prune_some(some: list[int]) -> None:
        nonlocal version, evidence
        if version != archive.value("PRAGMA data_version"):  # another process has written: there may be new items
            version, evidence = archive.value("PRAGMA data_version"), _evidence(archive)
        for number in set(some) - evidence:
            # First: a pruned step leaves no tombstone.
            archive.run("INSERT INTO pruned SELECT id FROM step WHERE id = ? AND kind NOT NULL", number)
            forget_step(archive, number)
        note_unfinished(archive)

    in_parts(archive, numbers, prune_some)


def _evidence(archive: Archive) -> set[int]:
    """Return the steps that items come from, and those that items and notes name."""
    found: set[int] = set()
    for uuid in archive.column("SELECT DISTINCT source_uuid FROM item WHERE source_uuid NOT NULL"):
        found.update(archive.column("SELECT id FROM step WHERE uuid = ?", uuid_key(uuid)))
    # In JSON an escape would hide the beginning of a line: \nS12.
    texts = [strings_of(parse_json(unpack(body))) for body in archive.column("SELECT body FROM item")]
    for text in [*texts, *archive.column("SELECT text FROM note")]:
        for kind, number in step_refs(text):
            column = "turn" if kind == TURN else "id"
            found.update(archive.column(f"SELECT id FROM step WHERE {column} = ?", number))
    return found


def vacuum(workspace: Workspace) -> tuple[int, int]:
    """Merge the index in small steps, then write the archive anew without its free pages. Return the bytes of its file,
    or of the journal, before and after. Other processes wait for the latter, about a second for 100 MB.
    """

    def action(archive: Archive) -> tuple[int, int]:
        before = archive.size()
        rewrite_index(archive)
        archive.run("VACUUM")
        return before, archive.size()

    return workspace.use(action)


def free_bytes(archive: Archive) -> int:
    """Return the bytes of an archive's free pages, which new records fill first."""
    if archive.has_journal:
        return 0
    return int(archive.value("PRAGMA freelist_count") or 0) * int(archive.value("PRAGMA page_size") or 0)
