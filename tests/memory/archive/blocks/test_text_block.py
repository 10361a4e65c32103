from __future__ import annotations

import pytest

from unified_state.lib.text import UNREADABLE, unpack
from unified_state.memory.archive.blocks.text_block import BlockReader, block_of, make_block, name_of, read_block

TEXTS = ["a", "two\nlines", "nul \0 in it", "漢字 😀", "half \ud83d", "x" * 20_000]


def encoded(texts: list[str]) -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") for text in texts]


def test_each_text_of_a_block_comes_back_exactly() -> None:
    block = make_block(encoded(TEXTS))
    reader = BlockReader()
    assert [unpack(reader.packed(name_of(7, place), block)) for place in range(len(TEXTS))] == TEXTS


def test_a_body_names_its_block() -> None:
    assert [block_of(name_of(block, place)) for block, place in ((1, 0), (1, 4095), (99, 7))] == [1, 1, 99]


def test_no_changed_byte_of_a_block_yields_another_text() -> None:
    block = make_block(encoded(TEXTS))
    for place in range(len(block)):
        changed = block[:place] + bytes([block[place] ^ 0x10]) + block[place + 1 :]
        assert read_block(changed) in ([], encoded(TEXTS))


@pytest.mark.parametrize("block", [None, b"", b"no stream", make_block(encoded(TEXTS))[:40]])
def test_the_texts_of_a_missing_or_damaged_block_are_unreadable(block: bytes | None) -> None:
    assert unpack(BlockReader().packed(name_of(1, 0), block)) == UNREADABLE


def test_a_place_that_a_block_does_not_have_is_unreadable() -> None:
    assert BlockReader().packed(name_of(1, 9), make_block([b"a"])) == UNREADABLE


def test_a_block_that_was_written_again_under_its_number_is_read_again() -> None:
    reader = BlockReader()
    assert unpack(reader.packed(name_of(1, 0), make_block([b"before"]))) == "before"
    assert unpack(reader.packed(name_of(1, 0), make_block([b"after"]))) == "after"
