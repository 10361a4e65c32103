"""The names in an item that the working tree does not have now."""

from __future__ import annotations

from unified_state.lib.identifiers import identifiers
from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.working_set.working_set_table import read_entry
from unified_state.memory.working_tree.rules.named import commands_in, is_about_change, versions_in
from unified_state.memory.working_tree.tree_view import TreeView
from unified_state.model.item import CONSTRAINT, ITEM_KINDS, LedgerItem
from unified_state.model.known import FILE

_MOST_FILES = 4  # of one item, in which its identifiers are looked for


class Absent(Record):
    """The names in an item that the tree does not have: identifiers of its files, commands; and other versions."""

    symbols: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()  # as they are now: `redis 5.2.0`


NOTHING_ABSENT = Absent()


def absent_names(archive: Archive, view: TreeView, item: LedgerItem) -> Absent:
    """Return what an item names and the tree does not have.

    A text about a change may name what is gone on purpose, so it is not looked up. An identifier counts only if the
    item's session saw it in a file that the item names. A constraint states which versions are allowed:
    they are not looked up.
    """
    kind = ITEM_KINDS[item.kind]
    fields = (str(item.body.get(field) or "") for field in (kind.main, kind.second[0]))
    text = "\n".join(field for field in fields if field and not is_about_change(field))
    commands = commands_in(text)
    versions = versions_in(text) if "." in text and item.kind != CONSTRAINT else {}
    symbols = identifiers(text) if item.file_hashes and item.session_id else set()
    if not (commands or versions or symbols):
        return NOTHING_ABSENT
    pinned = {name: view.other_version(name, version) for name, version in versions.items()}
    return Absent(
        symbols=_absent_symbols(archive, view, item, symbols) if symbols else (),
        commands=tuple(command for command in commands if view.missing_command(command)),
        versions=tuple(f"{name} {now}" for name, now in pinned.items() if now),
    )


def _absent_symbols(archive: Archive, view: TreeView, item: LedgerItem, named: set[str]) -> tuple[str, ...]:
    session = session_number(archive, item.session_id or "")
    if session is None:
        return ()
    absent: dict[str, None] = {}
    for path in list(item.file_hashes)[:_MOST_FILES]:
        seen = read_entry(archive, session, FILE, path)
        if seen is not None:
            absent.update(dict.fromkeys(word for word in sorted(named & seen.words.keys()) if view.lacks(path, word)))
    return tuple(word for word in absent if all(view.lacks(path, word) for path in item.file_hashes))
