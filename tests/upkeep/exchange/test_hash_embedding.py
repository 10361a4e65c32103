"""The vectors in the archives of claude-flow are hashes of their texts: leaving them out loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isclose, sin, sqrt
from struct import pack, unpack

import pytest

TEXTS = ("fix the auth login bug", "fix the auth login bug!", "gardening tomatoes", "zzzz 12345")
# What the seed's own function gives in node for the first text: the first, second and last of 384 dimensions.
FROM_NODE = {TEXTS[0]: (0.0102444, 0.0004259, 0.0396695), "Größe 😀 ": (0.0307124, 0.0201402, 0.0400486)}


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


@pytest.mark.parametrize("text", FROM_NODE)
def test_it_is_what_the_seed_makes_of_a_text(text: str) -> None:
    made = hash_embedding(text, 384)
    assert [made[place] for place in (0, 1, -1)] == pytest.approx(FROM_NODE[text], abs=1e-6)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("dimensions", [384, 768])
def test_one_that_was_stored_is_known_again_by_its_text(text: str, dimensions: int) -> None:
    stored = read_vector(pack(f"<{dimensions}f", *hash_embedding(text, dimensions)))
    assert is_hash_embedding(stored, text)


def test_a_real_vector_is_none() -> None:
    assert not is_hash_embedding([0.6, 0.8, *[0.0] * 382], TEXTS[0])


def test_any_two_texts_are_as_near_as_any_others() -> None:
    vectors = [hash_embedding(text, 768) for text in TEXTS]
    cosines = [sum(map(lambda a, b: a * b, one, other)) for one, other in combinations(vectors, 2)]
    assert all(0.5 < cosine < 0.85 for cosine in cosines)


def test_bytes_that_are_no_vector_give_what_they_hold() -> None:
    assert read_vector(b"") == ()
    assert read_vector(pack("<f", 1.0) + b"\x00") == (1.0,)
