"""Pruning: the content of old steps leaves the archive, to have room. The rows stay, so that neither their refs are
given again nor a transcript brings them back.

What an item comes from, quotes or names (S12, T41), and what a note names, is evidence: it is never among the chosen,
whenever the item came. What is chosen stands in a temporary table of the connection, so that any number of steps can
be.
"""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.lib.record import Record
from unified_state.lib.stdlib import parse_json
from unified_state.lib.text import strings_of, unpack
from unified_state.memory.archive.steps import uuid_key
from unified_state.memory.archive.write_steps import forget_step, tidy
from unified_state.memory.ledger.rules.short_item import may_decide
from unified_state.model.refs import TURN, step_refs
from unified_state.search.rules.query_dates import begin_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace


_AT_ONCE = 1_000  # steps in one transaction: hooks wait for one at most
_SIZE = "length(CAST(step.body AS BLOB))"
_EVIDENCE = "step.id IN (SELECT step FROM temp.evidence)"
# What the server that is in use does not have yet is not old.
_SENT = "step.id <= coalesce((SELECT step FROM outbox_server ORDER BY began_at DESC LIMIT 1), step.id)"
_OLD = f"kind NOT NULL AND step.at < ?1 AND step.id NOT IN (SELECT step FROM unnoted) AND {_SENT}"


class Prunable(Record):
    """What was chosen: how many steps, their bytes in the archive, of how many sessions, from when to when; and how
    many stay although they are as old, since items need them.
    """

    steps: int = 0
    bytes: int = 0
    sessions: int = 0
    first_at: int | None = None
    last_at: int | None = None
    kept: int = 0


def choose_older(archive: Archive, before: int) -> Prunable:
    """Choose all steps from before a time."""
    _begin(archive)
    archive.run(f"INSERT INTO temp.chosen SELECT id, {_SIZE} FROM step WHERE {_OLD} AND NOT {_EVIDENCE}", before)
    return _describe(archive, before)


def choose_least_used(archive: Archive, before: int, least_bytes: int) -> Prunable:
    """Choose steps from before a time, the least used turns first and of equals the oldest, until they have at least so
    many bytes. Used is what was asked for by search and recall: lately counts more.
    """
    _begin(archive)
    archive.run(
        "INSERT INTO temp.chosen SELECT id, size FROM (SELECT step.id AS id, "
        f"{_SIZE} AS size, sum({_SIZE}) OVER (ORDER BY used IS NOT NULL, used, step.turn, step.id) AS so_far FROM step "
        "LEFT JOIN (SELECT turn, max(level) AS used FROM access JOIN step AS asked ON asked.id = access.step "
        f"GROUP BY turn) AS use ON use.turn = step.turn WHERE {_OLD} AND NOT {_EVIDENCE}) WHERE so_far - size < ?2",
        before,
        least_bytes,
    )
    return _describe(archive, before)


def prune_some(archive: Archive) -> int:
    """Prune the oldest of those that are chosen; how many, 0 where none is left."""
    with archive.transaction():
        _note_evidence(archive)  # an item may have come meanwhile
        numbers = [step for (step,) in archive.rows("SELECT step FROM temp.chosen ORDER BY step LIMIT ?", _AT_ONCE)]
        for number in numbers:
            if archive.row(f"SELECT 1 FROM step WHERE id = ? AND kind NOT NULL AND NOT {_EVIDENCE}", number):
                archive.run("INSERT INTO pruned VALUES (?)", number)  # first: what is pruned leaves no tombstone
                forget_step(archive.execute, number)
                archive.run("DELETE FROM access WHERE step = ?", number)
            archive.run("DELETE FROM temp.chosen WHERE step = ?", number)
    return len(numbers)


def content_bytes(archive: Archive) -> int:
    """The bytes of all steps' content."""
    return int(archive.row(f"SELECT coalesce(sum({_SIZE}), 0) FROM step WHERE kind NOT NULL")[0])


def _begin(archive: Archive) -> None:
    for statement in (
        "CREATE TEMP TABLE IF NOT EXISTS evidence (step INTEGER PRIMARY KEY)",
        "CREATE TEMP TABLE IF NOT EXISTS noted (version INTEGER NOT NULL)",
        "CREATE TEMP TABLE IF NOT EXISTS chosen (step INTEGER PRIMARY KEY, size INTEGER NOT NULL)",
        "DELETE FROM temp.chosen",
        "DELETE FROM temp.noted",
    ):
        archive.run(statement)
    _note_evidence(archive)


def _note_evidence(archive: Archive) -> None:
    """Note all evidence, where anybody wrote into the archive since that was done."""
    (version,) = archive.row("PRAGMA data_version")
    if archive.row("SELECT 1 FROM temp.noted WHERE version = ?", version):
        return
    insert = "INSERT OR IGNORE INTO temp.evidence SELECT id FROM step WHERE "
    for (uuid,) in archive.rows("SELECT DISTINCT source_uuid FROM item WHERE source_uuid NOT NULL"):
        archive.run(f"{insert} uuid = ?", uuid_key(uuid))
    # As JSON a line's begin would be hidden behind an escape: \nS12.
    texts = [strings_of(parse_json(unpack(body))) for (body,) in archive.rows("SELECT body FROM item")]
    texts += [unpack(text) for (text,) in archive.rows("SELECT text FROM note")]
    for text in texts:
        for kind, number in step_refs(text):
            archive.run(f"{insert} {'turn' if kind == TURN else 'id'} = ?", number)
    archive.run("INSERT INTO temp.noted VALUES (?)", version)


def _describe(archive: Archive, before: int) -> Prunable:
    row = archive.row(
        "SELECT count(*), coalesce(sum(size), 0), count(DISTINCT session), min(step.at), max(step.at) FROM temp.chosen "
        "JOIN step ON step.id = chosen.step JOIN turn ON turn.id = step.turn"
    )
    (kept,) = archive.row(f"SELECT count(*) FROM step WHERE {_OLD} AND {_EVIDENCE}", before)
    return Prunable(**dict(zip(Prunable.names, (*row, kept), strict=True)))


_DAY = 86_400_000
_MEGABYTE = 1_000_000


class Choice(Record):
    """What is chosen: all from before a time, or of that, where there is a size, what was least used, down to it."""

    before: int
    most_bytes: int | None = None


class Pruned(Record):
    """What a prune took, or would take; `archive_bytes` is the size of the archive's file now, or of the journal."""

    prunable: Prunable
    is_done: bool
    archive_bytes: int


def older_than(age: str, now: int) -> Choice:
    """Chooses what is older than an age, `180d`, or than a date, `2026-01-01`."""
    before = begin_of(age, now) if age.strip() else None
    if before is None or before > now:
        message = f"--older-than {age[:60]!r} is no age"
        raise UsageError(message, "for example 180d, 2026-01-01")
    return Choice(before)


def by_policy(workspace: Workspace, now: int) -> Choice:
    """Chooses what the user's own policy lets go: of an archive that is larger than it may be, what was least used."""
    settings = workspace.settings
    if not settings.retention_megabytes:
        message = "there is no policy: nothing is ever deleted unless you ask for it"
        raise UsageError(message, "set retention_megabytes in your own settings file, or use --older-than")
    return Choice(now - settings.retention_spares_days * _DAY, settings.retention_megabytes * _MEGABYTE)


def preview(workspace: Workspace, choice: Choice) -> Pruned:
    """What a prune would take."""
    return workspace.use(lambda archive: _pruned(archive, _choose(archive, choice), is_done=False))


def prune(workspace: Workspace, choice: Choice, report: Callable[[int], None]) -> Pruned:
    """Take it; `report` is told how many steps went. What was taken before an interruption stays taken."""
    if not may_decide(workspace.origin):
        message = "only the user prunes"
        raise UsageError(message, "ask them to run this in a terminal of their own; --dry-run shows what would go")

    def action(archive: Archive) -> Pruned:
        chosen = _choose(archive, choice)
        while done := prune_some(archive):
            report(done)
        if chosen.steps:
            tidy(archive)
        return _pruned(archive, chosen, is_done=True)

    return workspace.use(action)


def _choose(archive: Archive, choice: Choice) -> Prunable:
    if choice.most_bytes is None:
        return choose_older(archive, choice.before)
    size = archive.size()
    # With a step's content goes its share of the index: the file shrinks in proportion.
    least = content_bytes(archive) * (size - choice.most_bytes) // max(1, size)
    return choose_least_used(archive, choice.before, max(0, least))


def _pruned(archive: Archive, chosen: Prunable, *, is_done: bool) -> Pruned:
    return Pruned(chosen, is_done, archive.size())
