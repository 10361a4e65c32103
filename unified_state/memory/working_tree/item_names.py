"""The identifiers in an item that the working tree does not have now."""

from __future__ import annotations

from unified_state.lib.identifiers import identifiers
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.working_set.working_set_table import read_entry
from unified_state.memory.working_tree.tree_view import TreeView
from unified_state.model.item import ITEM_KINDS, LedgerItem
from unified_state.model.known import FILE

_MOST_FILES = 4  # of one item, in which its identifiers are looked for
_BESIDE_WORDS = "`'\"()[]{}<>,;:!?*.-"
# A text with one of these words may name what is not there on purpose: it was removed, or is still to be made.
_CHANGE_WORDS = """
remove removed removes removing delete deleted deletes deleting drop dropped drops rename renamed renames renaming
replace replaced replaces replacing migrate migrated move moved moves moving instead former formerly old legacy
deprecated obsolete gone retire retired revert reverted never not no don't without avoid stop stopped cannot
add added adds adding create created creates creating introduce introduced introduces write new will todo implement
build plan planned future later upgrade upgraded downgrade downgraded bump bumped generated missing unused dead split
extract extracted merge merged inline inlined
"""
_CHANGES = frozenset(_CHANGE_WORDS.split())
_FIRST_CJK = 0x2E80  # the texts behind it have no word of the list


def absent_names(archive: Archive, view: TreeView, item: LedgerItem) -> tuple[str, ...]:
    """Return the identifiers that an item names and the tree does not have.

    A text about a change may name what is gone on purpose, so it is not looked up. An identifier counts only if the
    item's session saw it in a file that the item names.
    """
    session = session_number(archive, item.session_id) if item.file_hashes and item.session_id else None
    if session is None:
        return ()
    kind = ITEM_KINDS[item.kind]
    fields = (str(item.body.get(field) or "") for field in (kind.main, kind.second[0]))
    named = identifiers("\n".join(field for field in fields if field and not is_about_change(field)))
    absent: dict[str, None] = {}
    for path in list(item.file_hashes)[:_MOST_FILES] if named else ():
        seen = read_entry(archive, session, FILE, path)
        if seen is not None:
            absent.update(dict.fromkeys(word for word in sorted(named & seen.words.keys()) if view.lacks(path, word)))
    return tuple(word for word in absent if all(view.lacks(path, word) for path in item.file_hashes))


def is_about_change(text: str) -> bool:
    """Return whether a text says that something is removed, replaced, forbidden or still to be made."""
    lowered = text.lower().replace("\u2019", "'")
    if not lowered.isascii() and any(ord(character) >= _FIRST_CJK for character in lowered):
        return True
    words = lowered.split()
    return not _CHANGES.isdisjoint(words) or any(word.strip(_BESIDE_WORDS) in _CHANGES for word in words)
