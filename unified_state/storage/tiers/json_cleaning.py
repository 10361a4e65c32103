"""Taking what was forgotten, or masked, out of the files of a JSON store; and lines that newer ones made superfluous.

Whoever reads leaves it out already, so a process that is killed here only leaves work to the next that writes.
"""

from __future__ import annotations

import os

from unified_state.records.history import SESSION, STEP
from unified_state.storage.atomic_file import UNFINISHED
from unified_state.storage.tiers.json_forms import key_in, key_of, line_of, readable_fields
from unified_state.storage.tiers.json_tables import (
    CLEANING,
    COMPACTIONS,
    GONE,
    ITEMS,
    LINKS,
    SESSIONS,
    TAKEN,
    Tables,
    session_file,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.storage.tiers.json_files import LineFiles

_SUPERFLUOUS = 200  # lines about sessions that are known better


def clean(files: LineFiles) -> None:
    """Do what is to be done; call it with the lock held."""
    if files.read(CLEANING):
        _note_gone(files)
        _rewrite_steps(files)
        _rewrite_tables(files)
        _remove_unfinished(files)
        files.rewrite(CLEANING, b"")
    elif len(files.lines(SESSIONS)) > len((tables := Tables(files)).sessions) + _SUPERFLUOUS:
        files.rewrite(SESSIONS, b"".join(_session_lines(tables)))


def _note_gone(files: LineFiles) -> None:
    """The steps that a tombstone names, whichever sessions have them."""
    tables = Tables(files)
    gone = {}
    for what, key in tables.tombstones:
        if what == STEP:
            uuid, _, block = key.rpartition("/")
            gone[key_of(uuid, int(block) if block.isdecimal() else 0)] = True
    for session_id, number in tables.numbers.items():
        forgotten = tables.tombstones.get((SESSION, session_id))
        if forgotten is not None:
            for fields in readable_fields(files.lines(session_file(number))):
                found, at = key_in(fields), fields.get("at")
                if found is not None and not (isinstance(at, int) and at > forgotten.at):
                    gone[found] = True
    new = [key + b"\n" for key in gone if key not in tables.gone]
    if new:
        files.append({GONE: b"".join(new)})


def _rewrite_steps(files: LineFiles) -> None:
    tables = Tables(files)
    pairs = (pair.rpartition(b" ") for pair in tables.places)
    for number in sorted({int(session) for key, _, session in pairs if key in tables.gone or key in tables.masked}):
        name = session_file(number)
        lines = [line + b"\n" for line in files.lines(name)]
        kept = [_cleaned(line, tables) for line in lines]
        if kept != lines:
            files.rewrite(name, b"".join(kept))


def _cleaned(line: bytes, tables: Tables) -> bytes:
    """A line as it is to stand there; nothing where it holds what was forgotten, or may: one that the disk has changed
    goes too.
    """
    fields = next(readable_fields([line]), None)
    key = None if fields is None else key_in(fields)
    if fields is None or key is None or key in tables.gone:
        return b""
    masked = fields if "of" in fields else tables.as_masked(fields)
    return line if masked is fields else line_of(masked)


def _rewrite_tables(files: LineFiles) -> None:
    tables = Tables(files)
    used = {name for item in tables.items.values() for name in (item.alias, *item.aliases)}
    taken = sorted(tables.taken - used)
    items = [line_of({TAKEN: taken})] if taken else []
    tables_by_name = {
        ITEMS: items + [line_of(item) for item in tables.items.values()],
        LINKS: [line_of(link) for link in tables.links.values()],
        COMPACTIONS: _compaction_lines(tables),
        SESSIONS: _session_lines(tables),
    }
    for name, lines in tables_by_name.items():
        files.rewrite(name, b"".join(lines))


def _remove_unfinished(files: LineFiles) -> None:
    """Files that a killed process was about to put in place of others. Nobody else writes any while the lock is
    held.
    """
    for name in os.listdir(files.folder):
        if name.endswith(UNFINISHED):
            files.remove(name)


def _compaction_lines(tables: Tables) -> list[bytes]:
    """A number is never given twice, whichever of them were forgotten."""
    kept = [line_of(compaction, n=tables.cuts[name]) for name, compaction in tables.compactions.items()]
    return [line_of({TAKEN: tables.last_cut}), *kept] if tables.last_cut else kept


def _session_lines(tables: Tables) -> list[bytes]:
    return [line_of(session, n=tables.numbers[name]) for name, session in tables.sessions.items()]
