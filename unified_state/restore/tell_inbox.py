"""Tell the user that something waits for their decision: in one line, and once ever for each item."""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import PROPOSED
from unified_state.ledger.waiting_notes import KEYS_FROM_FILE
from unified_state.lib.json_text import dump_json, parse_json

_TOLD = "told items of the inbox"  # the name of the value in the archive: the ends of their UUIDs
_DIGITS = 12  # the end of a UUID is random
# The user is told of a state file once, as a whole.
_WAITING = "SELECT uuid FROM item WHERE status = ? AND coalesce(capture_key, '') NOT GLOB ?"


def tell_waiting(archive: Archive) -> str:
    """Return the line about what waits and was not told, or "" if there is nothing. From now on it was told."""
    line = waiting_line(archive)
    if line:
        with archive.transaction(durable=False):
            archive.set_meta(_TOLD, dump_json(sorted({*_told(archive), *map(_end, _new(archive))})))
    return line


def waiting_line(archive: Archive) -> str:
    """Return the line about what waits and was not told, or "" if there is nothing."""
    count = len(_new(archive))
    if not count:
        return ""
    what = "recorded item waits" if count == 1 else "recorded items wait"
    return f"{count:,} {what} for confirmation (unified-state inbox)"


def _new(archive: Archive) -> set[str]:
    """Return the UUIDs of the items that wait and were not told."""
    waiting = {uuid for (uuid,) in archive.rows(_WAITING, PROPOSED, KEYS_FROM_FILE)}
    told = _told(archive) if waiting else set()
    return {uuid for uuid in waiting if _end(uuid) not in told}


def _end(uuid: str) -> str:
    return uuid[-_DIGITS:]


def _told(archive: Archive) -> set[str]:
    try:
        told = parse_json(archive.meta(_TOLD) or "[]")
    except ValueError:  # damaged: all that waits is told once more
        return set()
    return set(map(str, told)) if isinstance(told, list) else set()
