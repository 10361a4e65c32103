"""Records of another store go into the archive: steps turn by turn, and of sessions, items and compactions the newer
version.
"""

from __future__ import annotations

from itertools import groupby

from unified_state.lib.text import escape_surrogates, pack
from unified_state.memory.archive.compactions import forget_summary
from unified_state.memory.archive.free_texts import forget_texts_of_session
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.archive.steps import find_step, step_numbers, uuid_key, uuid_of_step
from unified_state.memory.archive.write_steps import StepWriter, forget_step, replace_text
from unified_state.memory.history.archive_rows import carried, carry
from unified_state.memory.ledger.item_table import (
    forget_item,
    insert_item,
    items_called,
    next_alias,
    raise_counter,
    replace_item,
)
from unified_state.memory.ledger.source_table import drop_quotes, items_of_entry, items_of_summary
from unified_state.model.history_records import COMPACTION, ITEM, SESSION, STEP, is_masked_later
from unified_state.model.item import ALIAS_LETTERS, LedgerItem
from unified_state.model.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.history_records import (
        StoredCompaction,
        StoredItem,
        StoredLink,
        StoredSession,
        StoredStep,
        Tombstone,
    )


_NAMES = tuple(name for name in Step.names)
_PLAIN = ("uuid", "tool", "tool_use_id", "agent")  # columns of text, which cannot hold half an emoji


def keep_steps(archive: Archive, steps: Sequence[StoredStep]) -> int:
    """Keep steps, within the caller's transaction; how many their sessions did not have."""
    added = 0
    for (session_id, agent), run in groupby(steps, lambda step: (step.session_id, step.agent)):
        session = ensure_session(archive, session_id)
        row = archive.row(
            "SELECT id FROM turn WHERE session = ? AND agent IS ? ORDER BY id DESC LIMIT 1", session, agent
        )
        writer = StepWriter(archive, session, row[0] if row else None)
        for stored in run:
            added += _keep(archive, writer, stored)
    return added


def _keep(archive: Archive, writer: StepWriter, stored: StoredStep) -> bool:
    before = writer.added
    step = Step(**{name: getattr(stored, name) for name in _NAMES})
    is_new = writer.add(step, pack(step.text))
    if writer.added > before:
        _carry(archive, writer.last, stored)
    elif stored.masked_at is not None:
        _put_in_place(archive, stored)
    return is_new


def _put_in_place(archive: Archive, masked: StoredStep) -> None:
    """What was masked takes the place of the version that was masked before, or never."""
    known = "SELECT id FROM step WHERE uuid = ? AND block = ? AND kind NOT NULL"
    for (number,) in archive.rows(known, uuid_key(masked.uuid), masked.block):
        step = find_step(archive, number)
        if step is not None and is_masked_later(masked, carried(archive, STEP, number).get("masked_at")):
            replace_text(archive, number, step, masked.text)
            _carry(archive, number, masked)


def _carry(archive: Archive, number: int, stored: StoredStep) -> None:
    """Keep what the archive has no columns for."""
    fields: dict[str, Any] = {
        name: value for name in _PLAIN if (value := getattr(stored, name)) and escape_surrogates(value) != value
    }
    fields |= {name: value for name in ("unknown", "masked_at") if (value := getattr(stored, name)) not in ({}, None)}
    if fields:
        carry(archive, STEP, number, fields)


_EARLIEST, _LATEST = ("started_at",), ("seen_at", "ended_at")
_HIGHEST_ALIAS = 1_000_000  # one above it was not counted up to


def ensure_session(archive: Archive, session_id: str) -> int:
    """The number of a session, which is made if nobody told of it."""
    number = session_number(archive, session_id)
    if number is None:
        archive.run("INSERT INTO session (session_id) VALUES (?)", session_id)
        number = session_number(archive, session_id)
        assert number is not None  # noqa: S101  # inserted in the line above
    return number


def keep_session(archive: Archive, session: StoredSession) -> bool:
    """Add what is told to what is known; a session is never new."""
    number = ensure_session(archive, session.session_id)
    told = {
        name: value
        for name in session.names
        if name not in {"session_id", "unknown"} and (value := getattr(session, name)) is not None
    }
    for name, value in told.items():
        merged = {**dict.fromkeys(_EARLIEST, "min"), **dict.fromkeys(_LATEST, "max")}.get(name)
        known = f"{merged}(coalesce({name}, ?1), ?1)" if merged else "?1"
        archive.run(f"UPDATE session SET {name} = {known} WHERE id = ?2", value, number)
    if session.unknown:
        known = carried(archive, SESSION, number).get("unknown", {})
        carry(archive, SESSION, number, {"unknown": {**known, **session.unknown}})
    return False


def keep_item(archive: Archive, item: StoredItem) -> bool:
    """Put an item into the ledger, under an alias that nothing else has or had; or bring it up to date."""
    if _is_buried(archive, ITEM, item.uuid):
        return False
    known = [known for known in items_called(archive, item.uuid) if known.uuid == item.uuid]
    if known:
        if (item.changed_at or "") > (known[0].changed_at or ""):
            kept = item.replace(alias=known[0].alias)
            replace_item(archive, _ledger_item(archive, kept))
            _carry_item(archive, kept)
        return False
    alias = _free_alias(archive, item)
    kept = item.replace(alias=alias)
    insert_item(archive, _ledger_item(archive, kept))
    _carry_item(archive, kept)
    for former in {*item.aliases, item.alias} - {alias}:
        archive.run("INSERT OR IGNORE INTO item_alias VALUES (?, ?)", former.upper(), item.uuid)
    return True


def keep_link(archive: Archive, link: StoredLink) -> bool:
    """Keep a link between items, once; none of an item that was forgotten."""
    if _is_buried(archive, ITEM, link.from_uuid) or _is_buried(archive, ITEM, link.to_uuid):
        return False
    return archive.run("INSERT OR IGNORE INTO item_link VALUES (?, ?, ?, ?)", *link.as_dict().values()) > 0


def keep_compaction(archive: Archive, compaction: StoredCompaction) -> bool:
    """Keep a compaction, or the summary of one that has none yet."""
    if _is_buried(archive, COMPACTION, compaction.boundary_uuid):
        return False
    summary = None if compaction.summary is None else pack(compaction.summary)
    row = archive.row("SELECT id, summary FROM compaction WHERE boundary_uuid = ?", compaction.boundary_uuid)
    if row is None:
        archive.run(
            "INSERT INTO compaction (session, trigger, started_at, boundary_uuid, boundary_at, pre_tokens, summary, "
            "summary_from) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ensure_session(archive, compaction.session_id),
            compaction.trigger,
            compaction.at,
            compaction.boundary_uuid,
            compaction.at,
            compaction.pre_tokens,
            summary,
            compaction.summary_from,
        )
        row = archive.row("SELECT id FROM compaction WHERE boundary_uuid = ?", compaction.boundary_uuid)
        _carry_compaction(archive, row[0], compaction)
        return True
    is_masked = is_masked_later(compaction, carried(archive, COMPACTION, row[0]).get("masked_at"))
    if is_masked or (row[1] is None and summary is not None):
        archive.run(
            "UPDATE compaction SET summary = ?, summary_from = ? WHERE id = ?", summary, compaction.summary_from, row[0]
        )
    if is_masked:
        _carry_compaction(archive, row[0], compaction)
    return False


def _carry_compaction(archive: Archive, number: int, compaction: StoredCompaction) -> None:
    fields = {"unknown": compaction.unknown, "masked_at": compaction.masked_at}
    carry(archive, COMPACTION, number, {name: value for name, value in fields.items() if value not in ({}, None)})


def bury(archive: Archive, tombstone: Tombstone) -> bool:
    """Forget what a tombstone names, and keep the tombstone; whether it is new."""
    known = archive.row("SELECT at FROM tombstone WHERE what = ? AND key = ?", tombstone.what, tombstone.key)
    if known is not None and known[0] >= tombstone.at:
        return False
    is_here = {STEP: _forget_step, ITEM: _forget_item, COMPACTION: _forget_compaction, SESSION: _forget_session}[
        tombstone.what
    ](archive, tombstone)
    # A trigger has written it with a time of its own.
    archive.run(
        "INSERT OR REPLACE INTO tombstone VALUES (?, ?, ?, ?)",
        tombstone.what,
        tombstone.key,
        tombstone.at,
        None if is_here else 1,
    )
    return known is None


def _forget_step(archive: Archive, tombstone: Tombstone) -> bool:
    uuid, _, block = tombstone.key.rpartition("/")
    row = archive.row("SELECT id FROM step WHERE uuid = ? AND block = ?", uuid_key(uuid), int(block))
    if row is not None:
        _take_step(archive, row[0])
    return row is not None


def _take_step(archive: Archive, number: int) -> None:
    """Its words leave the items too that were taken from it."""
    drop_quotes(archive, items_of_entry(archive, uuid_of_step(archive, number)))
    forget_step(archive.execute, number)


def _forget_item(archive: Archive, tombstone: Tombstone) -> bool:
    forget_item(archive, tombstone.key)
    return True


def _forget_compaction(archive: Archive, tombstone: Tombstone) -> bool:
    row = archive.row("SELECT id FROM compaction WHERE boundary_uuid = ?", tombstone.key)
    if row is not None:
        _take_summary(archive, row[0])
    return row is not None


def _take_summary(archive: Archive, number: int) -> None:
    drop_quotes(archive, items_of_summary(archive, number))
    forget_summary(archive, number)


def _forget_session(archive: Archive, tombstone: Tombstone) -> bool:
    number = ensure_session(archive, tombstone.key)
    forget_texts_of_session(archive, number, tombstone.at)
    for step in step_numbers(archive, number):
        if archive.row("SELECT 1 FROM step WHERE id = ? AND at <= ?", step, tombstone.at):
            _take_step(archive, step)
    for (compaction,) in archive.rows(
        "SELECT id FROM compaction WHERE session = ? AND started_at <= ?", number, tombstone.at
    ):
        _take_summary(archive, compaction)
    return True


def _is_buried(archive: Archive, what: str, key: str) -> bool:
    return archive.row("SELECT 1 FROM tombstone WHERE what = ? AND key = ?", what, key) is not None


def _free_alias(archive: Archive, item: StoredItem) -> str:
    """Its own alias, if nobody has or had it; else the next one."""
    letter = ALIAS_LETTERS[item.kind]
    digits = item.alias[1:]
    is_one = (
        item.alias == f"{letter}{digits}"
        and digits.isascii()
        and digits.isdigit()
        and 0 < int(digits[:20]) <= _HIGHEST_ALIAS
    )
    taken = "SELECT 1 FROM item WHERE alias = ?1 UNION SELECT 1 FROM item_alias WHERE alias = ?1"
    alias = item.alias if is_one else next_alias(archive, item.kind)
    while archive.row(taken, alias) is not None:
        alias = next_alias(archive, item.kind)
    raise_counter(archive, letter, int(alias[1:]))
    return alias


def _ledger_item(archive: Archive, item: StoredItem) -> LedgerItem:
    """The item as the ledger takes it."""
    taken = archive.row("SELECT 1 FROM item WHERE capture_key = ? AND uuid != ?", item.capture_key, item.uuid)
    compaction = archive.row("SELECT id FROM compaction WHERE boundary_uuid = ?", item.boundary_uuid)
    fields: dict[str, Any] = {name: getattr(item, name) for name in LedgerItem.names}
    return LedgerItem(
        **{
            **fields,
            "capture_key": None if taken else item.capture_key,
            "compaction": compaction[0] if compaction else None,
        }
    )


def _carry_item(archive: Archive, item: StoredItem) -> None:
    fields = {"unknown": item.unknown, "boundary_uuid": item.boundary_uuid}
    if archive.row("SELECT 1 FROM item WHERE uuid = ? AND capture_key IS ?", item.uuid, item.capture_key) is None:
        fields["capture_key"] = item.capture_key
    carry(archive, ITEM, item.uuid, {name: value for name, value in fields.items() if value})
