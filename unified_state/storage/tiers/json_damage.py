"""What the disk, or an editor, has made of the lines of a JSON store. Whoever reads leaves such lines out."""

from __future__ import annotations

import os

from unified_state.records.history import StoredCompaction, StoredItem, StoredLink, StoredSession, StoredStep, Tombstone
from unified_state.storage.tiers.json_files import split_lines
from unified_state.storage.tiers.json_forms import key_in, readable_fields, record_of
from unified_state.storage.tiers.json_tables import COMPACTIONS, ITEMS, LINKS, SESSIONS, TAKEN, TOMBSTONES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.records.record import Record

_KINDS: dict[str, type[Record]] = {
    SESSIONS: StoredSession,
    ITEMS: StoredItem,
    LINKS: StoredLink,
    COMPACTIONS: StoredCompaction,
    TOMBSTONES: Tombstone,
}
_ENDING, _OF_STEPS = ".jsonl", {"session_id": ""}


def damaged_lines(folder: str) -> int:
    """How many lines of the histories in a folder cannot be read."""
    paths = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names]
    return sum(_damaged(path) for path in paths if path.endswith(_ENDING))


def _damaged(path: str) -> int:
    with open(path, "rb") as file:
        lines = split_lines(file.read())
    kind = _KINDS.get(os.path.basename(path))
    return len(lines) - sum(_is_whole(kind, fields) for fields in readable_fields(lines))


def _is_whole(kind: type[Record] | None, fields: dict[str, Any]) -> bool:
    if kind is None:  # steps, of which a copy names the original
        if not isinstance(fields.get("n"), int):
            return False
        if "of" in fields:
            return key_in(fields) is not None
        kind, fields = StoredStep, _OF_STEPS | fields
    try:
        record_of(kind, fields)
    except ValueError:
        return TAKEN in fields
    return True
