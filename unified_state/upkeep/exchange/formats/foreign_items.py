"""Items that another program recorded: known again by what they say, and never in force by themselves."""

from __future__ import annotations

from hashlib import sha256
from math import isclose, sin, sqrt
from struct import pack, unpack

from unified_state.lib.text import text_hash
from unified_state.model.constraint import INFERRED
from unified_state.model.history_records import StoredItem
from unified_state.model.item import MAIN_FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


_PROPOSED = "proposed"
_SEPARATOR = "\0"


def foreign_item(
    program: str,
    kind: str,
    body: dict[str, Any],
    alias: str,
    created_at: str,
    *,
    timestamp: int | None,
    status: str = _PROPOSED,
) -> StoredItem:
    """An item of another program. It is paged out: the state file is for what is recorded here. `timestamp` is what the
    file itself tells; when the file was written is another time in each copy of it.
    """
    main = str(body[MAIN_FIELDS[kind]])
    return StoredItem(
        uuid=_uuid(program, kind, alias, str(timestamp), main),
        alias=alias,
        kind=kind,
        body=body,
        status=status,
        origin=INFERRED,
        created_at=created_at,
        paged_out_at=created_at,
        quote=main,
        quote_hash=text_hash(main),
    )


def _uuid(*names: str) -> str:
    """The same UUID for the same names, of version 8 (RFC 9562), whose bits are its maker's own."""
    digits = sha256(_SEPARATOR.join(names).encode("utf-8", "surrogatepass")).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


_BITS = 32
_FLOAT = 4  # bytes
_TOLERANCE = 1e-5  # of float32 numbers below 1, and of the sine that another language computes


def read_vector(blob: bytes) -> tuple[float, ...]:
    """A vector as their archives hold it: float32, little endian. Bytes that are no whole number are left out."""
    return unpack(f"<{len(blob) // _FLOAT}f", blob[: len(blob) // _FLOAT * _FLOAT])


def hash_embedding(text: str, dimensions: int) -> tuple[float, ...]:
    """What they make of a text: its dimensions are multiples of one hash of its UTF-16 units."""
    units = text.lower().strip().encode("utf-16-le", "surrogatepass")
    folded = 0
    for unit in unpack(f"<{len(units) // 2}H", units):
        folded = (31 * folded + unit) % (1 << _BITS)
    raw = [(sin(_signed((number + 1) * folded)) + 1) / 2 for number in range(dimensions)]
    rounded = unpack(f"<{dimensions}f", pack(f"<{dimensions}f", *raw))
    length = sqrt(sum(value * value for value in rounded)) or 1.0
    return tuple(value / length for value in rounded)


def is_hash_embedding(vector: Sequence[float], text: str) -> bool:
    """Whether a vector is the hash embedding of a text, and so tells nothing of what it means."""
    made = hash_embedding(text, len(vector))
    return all(isclose(one, other, abs_tol=_TOLERANCE) for one, other in zip(vector, made, strict=True))


def _signed(number: int) -> int:
    """A number as a language with integers of 32 bits has it."""
    number %= 1 << _BITS
    return number - (1 << _BITS) if number >> (_BITS - 1) else number
