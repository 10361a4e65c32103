"""Carried items: a journal used in place of an archive shows the archive's items, read from the state file.

So they stay in the state file and in restores, and new aliases continue after theirs. They belong to the archive: they
cannot be changed here, and they are not merged back.
"""

from __future__ import annotations

import os

from unified_state.errors import DamagedFileError, NotFoundError
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.times import current_time, to_text
from unified_state.memory.journal.journalled_archive import JournalledArchive
from unified_state.memory.ledger.item_table import PROPOSED, insert_item, items_called, raise_counter
from unified_state.memory.state_file.adopt import adopt_notes
from unified_state.memory.state_file.read_entries import alias_number
from unified_state.memory.state_file.state_file import StateFile, raw_entries
from unified_state.model.constraint import INFERRED
from unified_state.model.history_records import StoredItem, StoredLink
from unified_state.model.item import ALIAS_LETTERS, LedgerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.place import Place
    from unified_state.memory.secrets.masker import Masker

_MARK = "state-file/"  # prefix of the UUID of a carried item
_SHARED = ("id", "timestamp", "origin", "status", "files")


def is_carried(record: object) -> bool:
    """Return whether a record is a carried item, or a link to one."""
    if isinstance(record, StoredLink):
        return record.from_uuid.startswith(_MARK) or record.to_uuid.startswith(_MARK)
    return isinstance(record, StoredItem) and record.uuid.startswith(_MARK)


def open_journal(
    folder: str, seconds: float, masker: Masker, *, carried: Place | None, trusted: str | None = None
) -> JournalledArchive:
    """Open the archive of a journal. `carried` is the place whose state file shows the items to carry; `trusted` is the
    path of another digest of that file.
    """
    archive = JournalledArchive(folder, seconds=seconds, mask=masker.text)
    try:
        if carried is not None:
            owner = carried.repository.owner
            file = StateFile(carried.state_path, carried.digest_path, seconds=seconds, owner=owner)
            if trusted is not None and os.path.exists(carried.state_path):
                file.trust(trusted)
            carry_items(archive, file, masker, current_time())
    except BaseException:
        archive.connection.close()
        raise
    return archive


def carry_items(archive: Archive, file: StateFile, masker: Masker, now: int) -> None:
    """Insert the entries of the state file that the archive does not have. Entries by others are proposals."""
    try:
        content = file.load()
    except DamagedFileError:
        return  # the next write sets the damaged file aside
    state = content.json or {}
    if not content.is_ours:
        state = parse_json(masker.json(dump_json(state)))
        content = content.replace(json=state)
        with archive.transaction():
            adopt_notes(archive, content, now)
    is_first = archive.meta("stands in") is None
    entries = {entry["id"]: (kind, entry) for kind, entry in raw_entries(state) if isinstance(entry.get("id"), str)}
    if not is_first and all(items_called(archive, alias) for alias in entries):
        return
    with archive.transaction():
        if archive.meta("stands in") is None:  # another process may have started
            archive.set_meta("stands in", "1")
            if content.is_ours:
                adopt_notes(archive, content, now)
        for alias, (kind, entry) in entries.items():
            if items_called(archive, alias):
                continue
            insert_item(archive, _item(kind, entry, now, trusted=content.is_ours))
            if number := alias_number(entry["id"]):
                raise_counter(archive, ALIAS_LETTERS[kind], number)


def check_not_carried(archive: Archive, refs: Iterable[str | None], reason: str) -> None:
    """Raise NotFoundError where a ref names an item of the archive, which cannot be changed now."""
    for ref in filter(None, refs):
        if any(item.uuid.startswith(_MARK) for item in items_called(archive, ref)):
            message = f"{ref} is in the archive, which cannot be used now"
            raise NotFoundError(message, reason)


def _item(kind: str, entry: dict[str, Any], now: int, *, trusted: bool) -> LedgerItem:
    return LedgerItem(
        uuid=f"{_MARK}{entry['id']}",
        alias=entry["id"],
        kind=kind,
        body={name: value for name, value in entry.items() if name not in _SHARED},
        status=str(entry.get("status") or "active") if trusted else PROPOSED,
        origin=str(entry.get("origin") or INFERRED) if trusted else INFERRED,
        created_at=str(entry.get("timestamp") or to_text(now)),
        files=tuple(map(str, entry["files"])) if isinstance(entry.get("files"), list) else (),
    )
