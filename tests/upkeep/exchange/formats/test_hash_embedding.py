from __future__ import annotations

from itertools import combinations
from struct import pack

import pytest

from unified_state.upkeep.exchange.formats.foreign_items import hash_embedding, is_hash_embedding, read_vector

TEXTS = ("fix the auth login bug", "fix the auth login bug!", "gardening tomatoes", "zzzz 12345")
# What the seed's own function gives in node for the first text: the first, second and last of 384 dimensions.
FROM_NODE = {TEXTS[0]: (0.0102444, 0.0004259, 0.0396695), "Größe 😀 ": (0.0307124, 0.0201402, 0.0400486)}


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
