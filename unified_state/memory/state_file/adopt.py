"""Adoption: what somebody else wrote into the state file enters the ledger as proposed, never as a fact.

A person may have edited the file; a repository may bring one along; the file may be older than the archive (an earlier
version's, or the archive was lost). Nothing that is absent from the file is deleted. Only a file that is byte for byte
what we wrote last is trusted: from that one, items are taken over as they were where the archive does not know them.
"""

from __future__ import annotations

import os

from unified_state.errors import UnifiedStateError
from unified_state.lib.record import disk_value
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import cut, text_hash
from unified_state.lib.times import to_text
from unified_state.memory.archive.session_notes import add_notes
from unified_state.memory.ledger.item_table import (
    PROPOSED,
    insert_item,
    is_forgotten,
    link_items,
    list_items,
    next_alias,
    raise_counter,
)
from unified_state.memory.ledger.record_item import new_uuid
from unified_state.memory.ledger.rules.short_item import short_form
from unified_state.memory.repository.place import digest_path_of, may_have_journals
from unified_state.memory.state_file.read_state import (
    LONGEST,
    SETTLED,
    StateEntry,
    alias_number,
    raw_entries,
    read_entries,
)
from unified_state.memory.state_file.state_file import StateFile, written_state_files
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
    """Take what the ledger does not know from a state file, whose secrets are masked, into it; the number of items that
    are new.

    An entry that shows a known item otherwise is a proposal to change that item, and is linked to it.
    """
    if not content.json or (content.is_ours and _is_known(archive, content.json)):
        return 0
    with archive.transaction():
        known = {item.alias: item for item in list_items(archive)}
        keeps_aliases = not known  # a new archive counts on where the older file ended
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
    """Take what an archive that has just begun does not know from the state file that was written last, of this
    worktree if it has one; the number of items that are new. With `only_ours` nothing that somebody else wrote.

    Raises UnifiedStateError where the file cannot be read.
    """
    if _waits(place):
        return 0  # what is merged later is nobody else's, though the archive does not know it yet
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
    """The items that the state file shows, for as long as the archive cannot be used; none where the file is not as we
    wrote it.
    """
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
    """What the state file of this worktree says; where it has none, that of another one, if it is as we wrote it."""
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


def _is_known(archive: Archive, state: dict[str, Any]) -> bool:
    """Whether the ledger knows every entry of the file: otherwise the archive was lost, and the file knows more."""
    known = "SELECT 1 FROM item WHERE alias = ?1 UNION SELECT 1 FROM item_alias WHERE alias = ?1"
    return all(archive.row(known, str(entry.get("id"))) for _, entry in raw_entries(state))


def _shows(entry: StateEntry, item: LedgerItem) -> bool:
    """Whether all that an entry says is what the file shows of an item, so that nobody changed it. A file that is older
    than the item may show it as still in force.
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
    """Take over the highlights and pending actions of a state file."""
    summaries = state.get("summaries")
    for field, kind in (("contextHighlights", "highlight"), ("pendingActions", "action")):
        texts = summaries.get(field) if isinstance(summaries, dict) else None
        if isinstance(texts, list):
            kept = [cut(text, LONGEST) for text in texts if isinstance(text, str) and text.strip()]
            add_notes(archive, None, kind, kept, to_text(now))
