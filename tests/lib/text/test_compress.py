from __future__ import annotations

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text.compress import escape_surrogates, pack, unpack, well_formed

SURROGATES = st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
texts = st.text(st.characters() | SURROGATES)
long_texts = st.builds(lambda text, times: text * times, texts, st.integers(1, 200))


@given(texts | long_texts)
def test_every_text_comes_back_as_it_was(text: str) -> None:
    assert unpack(pack(text)) == text


@given(texts | long_texts)
def test_sqlite_takes_every_packed_text(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    (stored,) = connection.execute("SELECT ?", (pack(text),)).fetchone()
    connection.close()
    assert unpack(stored) == text


@given(texts)
def test_packing_never_makes_a_well_formed_text_longer(text: str) -> None:
    packed = pack(well_formed(text))
    size = len(packed if isinstance(packed, bytes) else packed.encode())
    assert size <= len(well_formed(text).encode())


def test_a_long_text_is_compressed() -> None:
    packed = pack("the same again, " * 100)
    assert isinstance(packed, bytes)
    assert len(packed) < 100


def test_a_short_text_is_stored_as_it_is() -> None:
    assert pack("fine — très bien") == "fine — très bien"


def test_a_long_text_without_repetition_is_stored_as_it_is() -> None:
    text = "".join(map(chr, range(0x20, 0xA0)))
    assert pack(text) == text


def test_nothing_stored_is_an_empty_text() -> None:
    assert unpack(None) == ""


def test_half_an_emoji_becomes_the_replacement_character() -> None:
    assert well_formed("a\ud83db") == "a\ufffdb"


def test_two_halves_that_belong_together_become_the_emoji() -> None:
    assert well_formed("\ud83d\ude00") == "\U0001f600"


@given(texts)
def test_a_well_formed_text_can_be_encoded(text: str) -> None:
    well_formed(text).encode()


@given(st.text())
def test_a_text_without_lone_surrogates_is_well_formed_already(text: str) -> None:
    assert well_formed(text) == text


@given(texts)
def test_json_is_the_same_json_after_its_lone_surrogates_were_escaped(text: str) -> None:
    escaped = escape_surrogates(dump_json(f"\\{text}"))
    escaped.encode()
    assert well_formed(parse_json(escaped)) == well_formed(f"\\{text}")


def test_two_texts_with_different_halves_stay_two() -> None:
    assert escape_surrogates("a\ud83d") != escape_surrogates("a\ud83e")
