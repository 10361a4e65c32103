"""Tell the user that something waits for their decision: in one line, and once ever for each item."""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import PROPOSED
from unified_state.ledger.waiting_notes import KEYS_FROM_FILE

_TOLD = "told of the inbox"  # the name of the value in the archive: the number of the newest item that was told
# The user is told of a state file once, as a whole.
_WAITING = """
SELECT count(*), max(id) FROM item WHERE status = ? AND coalesce(capture_key, '') NOT GLOB ?
    AND id > CAST(coalesce((SELECT value FROM meta WHERE name = ?), 0) AS INTEGER)
"""


def tell_waiting(archive: Archive) -> str:
    """Return the line about what waits and was not told, or "" if there is nothing. From now on it was told."""
    count, newest = archive.row(_WAITING, PROPOSED, KEYS_FROM_FILE, _TOLD)
    if not count:
        return ""
    with archive.transaction(durable=False):
        archive.set_meta(_TOLD, str(newest))
    what = "recorded item waits" if count == 1 else "recorded items wait"
    return f"{count:,} {what} for confirmation (unified-state inbox)"
