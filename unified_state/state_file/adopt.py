"""Adoption: what others wrote into the state file waits for the user as proposals, all of it.

A user may have edited the file, a repository may contain one, or another program may have written it. An entry that is
missing in the file is not deleted. Only a file that is byte for byte our last version is trusted: what the archive
lacks, because it was lost, is then restored with its status and origin.
"""

from __future__ import annotations

from contextlib import suppress

from unified_state.archive.archive import MEMORY, Archive
from unified_state.errors import UnifiedStateError
from unified_state.ledger.item_table import (
    PROPOSED,
    insert_item,
    is_forgotten,
    link_items,
    list_items,
    next_alias,
    raise_counter,
)
from unified_state.ledger.rules.short_item import main_text, short_form
from unified_state.ledger.waiting_notes import key_from_file, propose_notes, take_over
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import disk_value
from unified_state.lib.text import one_line, text_hash
from unified_state.lib.times import new_uuid, to_text
from unified_state.model.constraint import INFERRED
from unified_state.model.item import ALIAS_LETTERS, DECISION, MAIN_FIELDS, OTHER_FIELDS, LedgerItem
from unified_state.project.place import Place
from unified_state.secrets.masker import Masker
from unified_state.state_file.read_entries import SETTLED, StateEntry, alias_number, lines_of, read_entries, read_notes
from unified_state.state_file.state_file import StateContent, has_entries, state_file_of


def adopt(archive: Archive, content: StateContent, masker: Masker | None, now: int, *, shows: bool = True) -> int:
    """Insert what the archive does not know of a state file, and return the number of new items.

    All of a file that is not ours is proposed, with its secrets masked. An entry that differs
    from the item with its id becomes a proposal to change that item, and is linked to it. Without `shows` the items
    stay out of our own state file.
    """
    if not content.json or (content.is_ours and has_entries(archive, content.json)):
        return 0
    state = content.json
    if masker is not None and not content.is_ours:
        state = parse_json(masker.json(dump_json(state)))
    with archive.transaction():
        known = {item.alias: item for item in list_items(archive)}
        decisions = [main_text(item) for item in known.values() if item.kind == DECISION]
        lines = set[str]().union(*map(lines_of, decisions))
        keeps_aliases = not known  # a new archive continues the numbers of the older file
        adopted = 0
        for entry in read_entries(state, now):
            present = known.get(entry.alias)
            if _is_known(archive, entry, present, lines):
                continue
            item = _item(archive, entry, now, trusted=content.is_ours, keeps_alias=keeps_aliases or content.is_ours)
            if present is not None:
                item = item.replace(status=PROPOSED)
                link_items(archive, item, "changes", present, to_text(now))
            insert_item(archive, item if shows else item.replace(paged_out_at=to_text(now)))
            adopted += 1
        if keeps_aliases or not content.is_ours:
            (take_over if content.is_ours else propose_notes)(archive, list(read_notes(state)), now)
    return adopted


def _is_known(archive: Archive, entry: StateEntry, present: LedgerItem | None, lines: set[str]) -> bool:
    """Return whether the archive has the entry, proposed it once, or forgot it. `lines` are its decisions."""
    if present is not None and _shows(entry, present):
        return True
    if present is None and is_forgotten(archive, entry.alias):
        return True
    if not entry.alias and entry.kind == DECISION and one_line(entry.said[MAIN_FIELDS[DECISION]]) in lines:
        return True
    once = "SELECT 1 FROM item WHERE capture_key = ?1 UNION SELECT 1 FROM uncaptured WHERE capture_key = ?1"
    return archive.row(once, _key(entry)) is not None


def adopt_file(archive: Archive, place: Place, masker: Masker | None, now: int, *, only_ours: bool = False) -> None:
    """Insert the items of this worktree's state file into a new archive; with `only_ours` not of one that others
    changed. Raises UnifiedStateError if the file cannot be read.
    """
    content = state_file_of(place).load()
    if content.is_ours or not only_ours:
        adopt(archive, content, masker, now)


def archive_of_file(place: Place, now: int) -> Archive:
    """Return an archive in memory with the items of the state file, for use while the archive is unavailable; with none
    if others changed the file.
    """
    archive = Archive(MEMORY)
    with suppress(UnifiedStateError, OSError):
        adopt_file(archive, place, None, now, only_ours=True)
    return archive


def _shows(entry: StateEntry, item: LedgerItem) -> bool:
    """Return whether an entry is as the file shows the item, so that it was not edited.

    A file that is older than the item may show it as still active.
    """
    shown = disk_value(short_form(item))
    return (
        entry.kind == item.kind
        and (entry.status not in SETTLED or entry.status == item.status)
        and entry.files in ((), item.files)
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
        status=entry.status if trusted else PROPOSED,
        origin=entry.origin if trusted else INFERRED,
        created_at=entry.created_at,
        files=entry.files,
        quote=quote,
        quote_hash=text_hash(quote),
        capture_key=None if trusted else _key(entry),
    )


def _key(entry: StateEntry) -> str:
    return key_from_file(entry.status, [entry.kind, entry.alias, entry.said, entry.files])
