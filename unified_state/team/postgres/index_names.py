"""Names that are too long for an index, in a form that it takes: their beginning, and their SHA-256.

No client gives such a name; a damaged or hostile transcript can, and must not keep everything behind it from the
server. Names are shortened before anything else is done with them, so that each is the same one everywhere.
"""

from __future__ import annotations

from hashlib import sha256

from unified_state.model.history_records import (
    STEP,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.team.postgres.postgres_values import to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.model.history_records import HistoryRecord

_LONGEST = 800  # bytes as the server has them; an entry of an index may have 2,700, and a link has three names
_SURELY_SHORT = _LONGEST // 6  # characters: one that has to be escaped takes six bytes
_BEGINNING = 100  # characters
_NAMES: dict[type, tuple[str, ...]] = {
    StoredSession: ("session_id",),
    StoredStep: ("session_id", "uuid"),
    StoredItem: ("uuid", "alias", "aliases"),
    StoredLink: ("from_uuid", "to_uuid", "relation"),
    StoredCompaction: ("session_id", "boundary_uuid"),
    Tombstone: ("key",),
}


def short_name(name: str) -> str:
    """The name itself, or what stands for one that is too long."""
    if len(name) <= _SURELY_SHORT:
        return name
    if len(to_text(name).encode()) <= _LONGEST:
        return name
    return f"{name[:_BEGINNING]}…{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"


def with_short_names(record: HistoryRecord) -> HistoryRecord:
    """The record, under short names."""
    long = {}
    for field in _NAMES[type(record)]:
        name = getattr(record, field)
        short = tuple(map(short_name, name)) if isinstance(name, tuple) else short_name(name)
        if short != name:
            long[field] = short
    if "key" in long and isinstance(record, Tombstone) and record.what == STEP:
        uuid, slash, block = record.key.rpartition("/")
        long["key"] = f"{short_name(uuid)}{slash}{block}"
    return record.replace(**long) if long else record
