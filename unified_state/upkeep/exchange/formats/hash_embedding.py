"""The "hash embedding" of the seed systems, only to tell it from a real vector where one of their archives is read.

It is noise: one number of 32 bits is made of the text, and its multiples are the dimensions. Two texts that differ in a
comma are as near to each other as any two (a cosine of about .67). It is never made for a search, nor kept.
"""

from __future__ import annotations

from math import isclose, sin, sqrt
from struct import pack, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
