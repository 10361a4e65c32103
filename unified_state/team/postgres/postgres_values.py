"""What PostgreSQL refuses, in a form that it takes: NUL and halves of emoji in text, numbers beyond 64 bits.

Everything that is text comes back exactly.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import overload
from zlib import compress

from unified_state.errors import StorageError
from unified_state.lib.stdlib import dump_ascii_json, parse_json
from unified_state.lib.text import unpack
from unified_state.model.history_records import (
    STEP,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unified_state.model.history_records import HistoryRecord


_SHOWN = 40  # characters of what cannot be read
_LEVEL = 4  # the knee: see `unified_state.lib.text`
_LARGEST = (1 << 63) - 1
_REFUSED = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(\\|u[0-9a-f]{4})")
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUID_BYTES = 16


@overload
def to_text(value: str) -> str: ...
@overload
def to_text(value: None) -> None: ...
def to_text(value: str | None) -> str | None:
    """A text that the server takes: what it would refuse is escaped, and so is the escape."""
    if value is None:
        return None
    return _REFUSED.sub(lambda found: r"\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", value)


@overload
def from_text(stored: str) -> str: ...
@overload
def from_text(stored: None) -> None: ...
def from_text(stored: str | None) -> str | None:
    """The text again."""
    if stored is None or "\\" not in stored:
        return stored
    return _ESCAPED.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), stored)


def to_body(text: str) -> bytes:
    """A long text, compressed."""
    return compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def from_body(stored: bytes) -> str:
    """The text again, or what says that its bytes were damaged."""
    return unpack(stored)


def to_key(uuid: str) -> bytes:
    """The uuid of an entry: its 16 bytes. Anything else is never of that length: it follows what it is preceded by."""
    if _UUID.fullmatch(uuid):
        return bytes.fromhex(uuid.replace("-", ""))
    encoded = uuid.encode("utf-8", "surrogatepass")
    begin = 2 if len(encoded) == _UUID_BYTES - 1 else 1
    return bytes([begin] * begin) + encoded


def from_key(key: bytes) -> str:
    """The uuid again."""
    if len(key) != _UUID_BYTES:
        return key[key[0] :].decode("utf-8", "surrogatepass")
    digits = key.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def to_number(value: int) -> int:
    """A number, at its limit where it is beyond."""
    return max(-_LARGEST - 1, min(value, _LARGEST))


def to_json(fields: dict[str, Any]) -> str | None:
    """Fields as JSON in ASCII, as they were given: `jsonb` would change numbers and the order. None for no fields."""
    return dump_ascii_json(fields) if fields else None


def from_json(stored: str | None) -> dict[str, Any]:
    """The fields again. Raises StorageError where it is none of our JSON."""
    if not stored:
        return {}
    try:
        return dict(parse_json(stored))
    except (TypeError, ValueError):
        message = f"a record on the server is damaged: {stored[:_SHOWN]!r}"
        raise StorageError(message, "its administrator restores it from a backup; nothing is lost here") from None


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


def vector_text(vector: Sequence[float]) -> str:
    """A vector as the server reads it."""
    return f"[{','.join(f'{number:.5g}' for number in vector)}]"
