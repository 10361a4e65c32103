"""Adoption: entries that others wrote into the state file enter the ledger as proposals, never as facts.

A user may have edited the file, a repository may contain one, or the file may be older than the archive (written by an
earlier version, or the archive was lost). An entry that is missing in the file is not deleted. Only a file that is byte
for byte our last version is trusted: items that the archive lacks are then restored with their status and origin.
"""

from __future__ import annotations

import os

from unified_state.errors import UnifiedStateError
from unified_state.lib.record import disk_value
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import cut, text_hash
from unified_state.lib.times import to_text
from unified_state.lib.uuids import new_uuid
from unified_state.memory.archive.session_work import add_notes
from unified_state.memory.ledger.item_table import (
    PROPOSED,
    insert_item,
    is_forgotten,
    link_items,
    list_items,
    next_alias,
    raise_counter,
)
from unified_state.memory.ledger.rules.short_item import short_form
from unified_state.memory.repository.place import digest_path_of, may_have_journals
from unified_state.memory.state_file.read_entries import LONGEST, SETTLED, StateEntry, alias_number, read_entries
from unified_state.memory.state_file.state_file import StateFile, has_entries, written_state_files
from unified_state.model.constraint import INFERRED
from unified_state.model.item import ALIAS_LETTERS, MAIN_FIELDS, OTHER_FIELDS, LedgerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.place import Place
    from unified_state.memory.secrets.masker import Masker
    from unified_state.memory.state_file.state_file import StateContent


def adopt(archive: Archive, content: StateContent, now: int) -> int:
    """Insert the unknown entries of a state file into the ledger, and return the number of new items.

    The secrets of the content must be masked already. An entry that differs from the item with its id becomes a
    proposal to change that item, and is linked to it.
    """
    if not content.json or (content.is_ours and has_entries(archive, content.json)):
        return 0
    with archive.transaction():
        known = {item.alias: item for item in list_items(archive)}
        keeps_aliases = not known  # a new archive continues the numbers of the older file
        adopted = 0
        for entry in read_entries(content.json, now):
            present = known.get(entry.alias)
            if present is None and is_forgotten(archive, entry.alias):
                continue
            if present is None or not _shows(entry, present):
                item = _item(archive, entry, now, trusted=content.is_ours, keeps_alias=keeps_aliases or content.is_ours)
                if present is not None:
                    item = item.replace(status=PROPOSED)
                    link_items(archive, item, "changes", present, to_text(now))
                insert_item(archive, item)
                adopted += 1
        if keeps_aliases:
            adopt_notes(archive, content.json, now)
    return adopted


def adopt_file(archive: Archive, place: Place, masker: Masker, now: int, *, only_ours: bool = False) -> int:
    """Insert the items of the last written state file into a new archive, and return their number.

    This worktree's file is used if it has one. With `only_ours` a file that others changed is ignored. Raises
    UnifiedStateError if the file cannot be read.
    """
    if _waits(place):
        return 0  # its entries may come from a journal that is merged later, and are not by others
    content = _newest_content(place)
    if content is None or content.json is None or (only_ours and not content.is_ours):
        return 0
    if not content.is_ours:
        content = content.replace(json=parse_json(masker.json(dump_json(content.json))))
    return adopt(archive, content, now)


def _waits(place: Place) -> bool:
    if not may_have_journals(place):
        return False
    from unified_state.memory.journal.journal_places import waiting_journals  # hardly ever

    return bool(waiting_journals(place, is_tier=False))


def items_in_file(place: Place) -> list[LedgerItem]:
    """Return the items of the state file, for use while the archive is unavailable; none if others changed the file."""
    try:
        content = _newest_content(place)
    except (UnifiedStateError, OSError):
        return []
    if content is None or content.json is None or not content.is_ours:
        return []
    return [_as_told(entry) for entry in read_entries(content.json, 0)]


def _as_told(entry: StateEntry) -> LedgerItem:
    return LedgerItem(
        uuid="",
        alias=entry.alias,
        kind=entry.kind,
        body={**OTHER_FIELDS[entry.kind], **entry.said},
        status=entry.status,
        origin=entry.origin,
        created_at=entry.created_at,
    )


def _newest_content(place: Place) -> StateContent | None:
    """Return the content of this worktree's state file; without one, that of another worktree if it is unchanged."""
    if os.path.lexists(place.state_path):
        return StateFile(place.state_path, place.digest_path).load()
    if not os.path.isdir(place.folder):
        return None
    others = [path for path in written_state_files(place.folder) if os.path.isfile(path)]
    for path in sorted(others, key=os.path.getmtime, reverse=True):
        content = StateFile(path, digest_path_of(place.folder, path)).load()
        if content.is_ours:
            return content
    return None


def _shows(entry: StateEntry, item: LedgerItem) -> bool:
    """Return whether an entry is as the file shows the item, so that it was not edited.

    A file that is older than the item may show it as still active.
    """
    shown = disk_value(short_form(item))
    return (
        entry.kind == item.kind
        and (entry.status not in SETTLED or entry.status == item.status)
        and all(shown.get(name) == value for name, value in entry.said.items())
    )


def _item(archive: Archive, entry: StateEntry, now: int, *, trusted: bool, keeps_alias: bool) -> LedgerItem:
    letter = ALIAS_LETTERS[entry.kind]
    number = alias_number(entry.alias)
    taken = archive.row("SELECT 1 FROM item WHERE alias = ?", f"{letter}{number}")
    if keeps_alias and number and entry.alias == f"{letter}{number}" and not taken:
        alias = entry.alias
        raise_counter(archive, letter, number)
    else:
        alias = next_alias(archive, entry.kind)
    quote = entry.said[MAIN_FIELDS[entry.kind]]
    return LedgerItem(
        uuid=new_uuid(now),
        alias=alias,
        kind=entry.kind,
        body={**OTHER_FIELDS[entry.kind], **entry.said},
        status=entry.status if trusted or entry.status in SETTLED else PROPOSED,
        origin=entry.origin if trusted else INFERRED,
        created_at=entry.created_at,
        quote=quote,
        quote_hash=text_hash(quote),
    )


def adopt_notes(archive: Archive, state: dict[str, Any], now: int) -> None:
    """Insert the highlights and pending actions of a state file."""
    summaries = state.get("summaries")
    for field, kind in (("contextHighlights", "highlight"), ("pendingActions", "action")):
        texts = summaries.get(field) if isinstance(summaries, dict) else None
        if isinstance(texts, list):
            kept = [cut(text, LONGEST) for text in texts if isinstance(text, str) and text.strip()]
            add_notes(archive, None, kind, kept, to_text(now))
