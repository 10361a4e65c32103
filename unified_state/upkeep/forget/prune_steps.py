"""Prune old steps: delete their content from the archive to save space. The rows stay, so that neither their refs nor
their transcript entries are created again.

Only the user prunes. Nothing else deletes by age, size or use, and no hook, variable or file of a repository can
request it. Pruned steps are not forgotten elsewhere, and servers keep them. A step that is the source of an item, or
that an item or a note quotes or names (S12, T41), is evidence and always stays. The chosen steps are in a temporary
table of the connection, so their number has no limit.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from unified_state.archive.archive import BODY_SIZE, Archive
from unified_state.archive.small_steps import in_small_steps
from unified_state.archive.steps import uuid_key
from unified_state.archive.text_columns import forget_step
from unified_state.errors import UsageError
from unified_state.ledger.rules.short_item import may_decide
from unified_state.lib.json_text import parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import strings_of, unpack
from unified_state.model.refs import TURN, step_refs
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.rules.query_dates import begin_of
from unified_state.upkeep.forget.unfinished import finish, note_unfinished
from unified_state.upkeep.forget.vacuum import free_bytes

Progress = Callable[[int], AbstractContextManager[Callable[[int], None]]]  # called with the number of steps

_DAY, _MEGABYTE = 86_400_000, 1_000_000
_LEAST_AT_ONCE, _MOST_AT_ONCE = 20, 1_000  # steps in one transaction, for which a hook may have to wait
_ALL = float("inf")
_EVIDENCE = "step.id IN (SELECT step FROM temp.evidence)"
# Steps that the server in use does not have yet do not count as old.
_SENT = "step.id <= coalesce((SELECT step FROM outbox_server ORDER BY began_at DESC LIMIT 1), step.id)"
_OLD = f"kind NOT NULL AND step.at < ?1 AND step.id NOT IN (SELECT step FROM unnoted) AND {_SENT}"
_TABLES = (
    "CREATE TEMP TABLE IF NOT EXISTS evidence (step INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE IF NOT EXISTS noted (version INTEGER NOT NULL)",
    "CREATE TEMP TABLE IF NOT EXISTS chosen (step INTEGER PRIMARY KEY, size INTEGER NOT NULL)",
    "DELETE FROM temp.chosen",
    "DELETE FROM temp.noted",
)


class Choice(Record):
    """The steps to prune: all from before a time, or the least used of them until the archive has a size."""

    before: int
    most_bytes: int | None = None


class Pruned(Record):
    """The steps of a prune: number, bytes, sessions, times, and the lowest and the highest ref.

    `kept` counts equally old steps that stay as evidence. `archive_bytes` is the current size of the archive's file, or
    of the journal, and `free_bytes` how much of it new records fill.
    """

    steps: int
    bytes: int
    sessions: int
    first_at: int | None
    last_at: int | None
    kept: int
    is_done: bool
    archive_bytes: int
    first_step: int | None = None
    last_step: int | None = None
    free_bytes: int = 0


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


def preview(workspace: Workspace, choice: Choice) -> Pruned:
    """Return the result that a prune would have."""
    return workspace.use(lambda archive: _choose(archive, choice))


def prune(workspace: Workspace, choice: Choice, pruning: Progress) -> Pruned:
    """Prune, and show how far it is.

    An interrupted prune keeps its progress. Only a choice by size gives the space back to the disk.
    """
    if not may_decide(workspace.origin):
        message = "only the user prunes"
        raise UsageError(message, "ask them to run this in a terminal of their own; --dry-run shows what would go")

    def action(archive: Archive) -> Pruned:
        chosen = _choose(archive, choice)
        with pruning(chosen.steps) as advance:
            for done in in_small_steps(lambda size: prune_some(archive, size), _LEAST_AT_ONCE, _MOST_AT_ONCE):
                advance(done)
        finish(archive)
        if choice.most_bytes is not None and archive.size() > choice.most_bytes:
            archive.compact()
        return chosen.replace(is_done=True, archive_bytes=archive.size(), free_bytes=free_bytes(archive))

    return workspace.use(action)


def _choose(archive: Archive, choice: Choice) -> Pruned:
    if choice.most_bytes is None:
        return choose_steps(archive, choice.before)
    size = archive.size() - free_bytes(archive)
    (content,) = archive.row(f"SELECT coalesce(sum({BODY_SIZE}), 0) FROM step WHERE kind NOT NULL")
    # With the content of a step goes its share of the index: the file shrinks in proportion.
    return choose_steps(archive, choice.before, max(0, content * (size - choice.most_bytes) // max(1, size)))


def choose_steps(archive: Archive, before: int, least_bytes: float = _ALL) -> Pruned:
    """Choose steps from before a time until they have `least_bytes` bytes.

    Steps of the least used turns are first, and of equal turns the oldest. Search and recall count as use, recent use
    more.
    """
    for statement in _TABLES:
        archive.run(statement)
    _note_evidence(archive)
    archive.run(
        "INSERT INTO temp.chosen SELECT id, size FROM (SELECT step.id AS id, "
        f"{BODY_SIZE} AS size, sum({BODY_SIZE}) OVER (ORDER BY used IS NOT NULL, used, step.turn, step.id) AS so_far "
        "FROM step "
        "LEFT JOIN (SELECT turn, max(level) AS used FROM access JOIN step AS asked ON asked.id = access.step "
        f"GROUP BY turn) AS use ON use.turn = step.turn WHERE {_OLD} AND NOT {_EVIDENCE}) WHERE so_far - size < ?2",
        before,
        least_bytes,
    )
    found = archive.row(
        "SELECT count(*), coalesce(sum(size), 0), count(DISTINCT session), min(step.at), max(step.at), min(step.id), "
        "max(step.id) FROM temp.chosen JOIN step ON step.id = chosen.step JOIN turn ON turn.id = step.turn"
    )
    (kept,) = archive.row(f"SELECT count(*) FROM step WHERE {_OLD} AND {_EVIDENCE}", before)
    values = (*found[:5], kept, False, archive.size(), *found[5:], free_bytes(archive))
    return Pruned(**dict(zip(Pruned.names, values, strict=True)))


def prune_some(archive: Archive, most: int = _MOST_AT_ONCE) -> int:
    """Prune the oldest of the chosen steps. Return the number of processed steps, 0 if none is left."""
    with archive.transaction():
        _note_evidence(archive)  # there may be new items by now
        numbers = archive.column("SELECT step FROM temp.chosen ORDER BY step LIMIT ?", most)
        for number in numbers:
            if archive.row(f"SELECT 1 FROM step WHERE id = ? AND kind NOT NULL AND NOT {_EVIDENCE}", number):
                archive.run("INSERT INTO pruned VALUES (?)", number)  # first: a pruned step leaves no tombstone
                forget_step(archive, number)
            archive.run("DELETE FROM temp.chosen WHERE step = ?", number)
        if numbers:
            note_unfinished(archive)
    return len(numbers)


def _note_evidence(archive: Archive) -> None:
    """Collect all evidence again, if another connection has written to the archive since the last time."""
    (version,) = archive.row("PRAGMA data_version")
    if archive.row("SELECT 1 FROM temp.noted WHERE version = ?", version):
        return
    insert = "INSERT OR IGNORE INTO temp.evidence SELECT id FROM step WHERE "
    for uuid in archive.column("SELECT DISTINCT source_uuid FROM item WHERE source_uuid NOT NULL"):
        archive.run(f"{insert} uuid = ?", uuid_key(uuid))
    # In JSON an escape would hide the beginning of a line: \nS12.
    texts = [strings_of(parse_json(unpack(body))) for body in archive.column("SELECT body FROM item")]
    for text in [*texts, *archive.column("SELECT text FROM note")]:
        for kind, number in step_refs(text):
            archive.run(f"{insert} {'turn' if kind == TURN else 'id'} = ?", number)
    archive.run("INSERT INTO temp.noted VALUES (?)", version)
