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
from unified_state.archive.text_columns import forget_step
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
from unified_state.upkeep.forget.vacuum import free_bytes

_DAY, _MEGABYTE = 86_400_000, 1_000_000
# The least used turns are first, and of equal turns the oldest: search and recall count as use, recent use more. Steps
# that the server in use does not have yet do not count as old.
_OLD = f"""
SELECT step.id, {BODY_SIZE}, session, step.at FROM step JOIN turn ON turn.id = step.turn
LEFT JOIN (SELECT turn AS used_turn, max(level) AS used FROM access JOIN step AS asked ON asked.id = access.step
    GROUP BY turn) ON used_turn = step.turn
WHERE kind NOT NULL AND step.at < ?1 AND step.id NOT IN (SELECT step FROM unnoted)
    AND step.id <= coalesce((SELECT step FROM outbox_server ORDER BY began_at DESC LIMIT 1), step.id)
ORDER BY used IS NOT NULL, used, step.turn, step.id
"""


class Choice(Record):
    """The steps to prune: all from before a time, or the least used of them until the archive has a size."""

    before: int
    most_bytes: int | None = None


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


def older_than(age: str, now: int) -> Choice:
    """Return the choice of everything older than an age (`180d`) or a date (`2026-01-01`). Raises UsageError."""
    before = begin_of(age, now) if age.strip() else None
    if before is None or before > now:
        message = f"--older-than {age[:60]!r} is no age"
        raise UsageError(message, "for example 180d, 2026-01-01")
    return Choice(before)


def by_policy(workspace: Workspace, now: int) -> Choice:
    """Return the choice of the user's settings: the least used steps of an archive that is too large."""
    settings = workspace.settings
    if not settings.retention_megabytes:
        message = "there is no policy: nothing is ever deleted unless you ask for it"
        raise UsageError(message, "set retention_megabytes in your own settings file, or use --older-than")
    return Choice(now - settings.retention_spares_days * _DAY, settings.retention_megabytes * _MEGABYTE)


def preview(workspace: Workspace, choice: Choice) -> PruneResult:
    """Return the result that a prune would have."""
    return workspace.use(lambda archive: choose_steps(archive, choice)[0])


def prune(workspace: Workspace, choice: Choice) -> PruneResult:
    """Prune. An interrupted prune keeps its progress. Only a choice by size gives the space back to the disk."""
    if not may_decide(workspace.origin):
        message = "only the user prunes"
        raise UsageError(message, "ask them to run this in a terminal of their own; --dry-run shows what would go")

    def action(archive: Archive) -> PruneResult:
        chosen, numbers = choose_steps(archive, choice)
        prune_steps(archive, numbers)
        finish(archive)
        if choice.most_bytes is not None and archive.size() > choice.most_bytes:
            archive.run("VACUUM")
        return chosen.replace(is_done=True, archive_bytes=archive.size(), free_bytes=free_bytes(archive))

    return workspace.use(action)


def choose_steps(archive: Archive, choice: Choice) -> tuple[PruneResult, Sequence[int]]:
    """Return what a choice takes: the result of its prune, and the numbers of the steps."""
    evidence, left, kept = _evidence(archive), _bytes_to_take(archive, choice), 0
    chosen = []
    for row in archive.execute(_OLD, (choice.before,)):
        if row[0] in evidence:
            kept += 1
        elif left > 0:
            chosen.append(row)
            left -= row[1]
    numbers, sizes, sessions, times = zip(*chosen, strict=True) if chosen else ([], [], [], [])
    amount = (len(numbers), sum(sizes), len(set(sessions)))
    first, last = (None if at is None else to_text(at) for at in _ends(times))
    found = PruneResult(*amount, first, last, kept, archive.size(), *_ends(numbers), free_bytes(archive))
    return found, numbers


def _ends(values: Sequence[int]) -> tuple[int | None, int | None]:
    return min(values, default=None), max(values, default=None)


def _bytes_to_take(archive: Archive, choice: Choice) -> float:
    if choice.most_bytes is None:
        return float("inf")
    size = archive.size() - free_bytes(archive)
    (content,) = archive.row(f"SELECT coalesce(sum({BODY_SIZE}), 0) FROM step WHERE kind NOT NULL")
    # With the content of a step goes its share of the index: the file shrinks in proportion.
    return float(content * (size - choice.most_bytes) // max(1, size))


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
