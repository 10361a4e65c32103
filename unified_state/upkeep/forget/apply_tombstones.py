"""Forgetting what the user forgot elsewhere, as thoroughly as what they forget here: with quotes, captured facts, what
was given back, working sets and every byte. What never was here is left to the tombstones themselves.
"""

from __future__ import annotations

from unified_state.memory.archive.compactions import FORGOTTEN
from unified_state.memory.archive.free_texts import forget_texts_of_session
from unified_state.memory.archive.pending_messages import write_pending
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.archive.steps import step_numbers, uuid_key
from unified_state.memory.ledger.item_table import selected_items
from unified_state.model.history_records import COMPACTION, ITEM, SESSION, STEP
from unified_state.upkeep.forget.forget_facts import work_texts
from unified_state.upkeep.forget.forget_refs import forget_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.history_records import Tombstone


def forget_told(archive: Archive, tombstones: Iterable[Tombstone]) -> set[str]:
    """Forget what tombstones name; what the state files may still tell of it."""
    before = work_texts(archive)
    _forget(archive, tombstones)
    return before - work_texts(archive)


def _forget(archive: Archive, tombstones: Iterable[Tombstone]) -> None:
    steps: list[int] = []
    summaries: list[int] = []
    items = []
    for told in tombstones:
        if told.what == STEP:
            steps += _step(archive, told.key)
        elif told.what == ITEM:
            items += selected_items(archive, "WHERE uuid = ?", told.key)
        elif told.what == COMPACTION:
            rows = archive.rows(
                "SELECT id FROM compaction WHERE boundary_uuid = ? AND summary IS NOT ?", told.key, FORGOTTEN
            )
            summaries += [number for (number,) in rows]
        elif told.what == SESSION and (session := session_number(archive, told.key)) is not None:
            if not _is_known(archive, told):  # what was said since then is not forgotten by it once more
                write_pending(archive, told.key, [])
                with archive.transaction():
                    forget_texts_of_session(archive, session, told.at)
            steps += _steps_until(archive, session, told.at)
            summaries += _summaries_until(archive, session, told.at)
    if steps or items or summaries:
        forget_found(archive, list(dict.fromkeys(steps)), items, list(dict.fromkeys(summaries)))


def _step(archive: Archive, key: str) -> list[int]:
    uuid, _, block = key.rpartition("/")
    rows = archive.rows(
        "SELECT id FROM step WHERE uuid = ? AND block = ? AND kind NOT NULL", uuid_key(uuid), int(block)
    )
    return [number for (number,) in rows]


def _steps_until(archive: Archive, session: int, at: int) -> list[int]:
    numbers = step_numbers(archive, session)
    left = "SELECT 1 FROM step WHERE id = ? AND at <= ? AND kind NOT NULL"
    return [number for number in numbers if archive.row(left, number, at)]


def _summaries_until(archive: Archive, session: int, at: int) -> list[int]:
    rows = archive.rows(
        "SELECT id FROM compaction WHERE session = ? AND started_at <= ? AND summary IS NOT ?", session, at, FORGOTTEN
    )
    return [number for (number,) in rows]


def _is_known(archive: Archive, told: Tombstone) -> bool:
    row = archive.row("SELECT at FROM tombstone WHERE what = ? AND key = ?", told.what, told.key)
    return row is not None and row[0] >= told.at
