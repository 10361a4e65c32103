from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import binary, lists, sampled_from

from unified_state.errors import UnifiedStateError
from unified_state.hosts.install.agents_file import BEGIN, END, add_pointer, with_block, without_block

LINES = ["## Title", "", "text"]
ODD = lists(sampled_from([b"\n", b"\r\n", b"\r", b"# x", b"\xef\xbb\xbf", "記憶".encode(), b"<!--", b" "])).map(
    b"".join
)


@given(content=(binary() | ODD).filter(lambda content: BEGIN not in content))  # Hypothesis tries constants of the code
def test_what_was_there_comes_back_byte_for_byte(content: bytes) -> None:
    assert without_block(with_block(content, LINES)) == content


def test_a_file_that_we_made_is_none_again() -> None:
    assert without_block(with_block(None, LINES)) is None


@given(content=ODD)
def test_a_block_is_replaced_not_repeated(content: bytes) -> None:
    once = with_block(content, ["older"])
    again = with_block(once, LINES)
    assert again.count(BEGIN) == again.count(END) == 1
    assert without_block(again) == content
    assert b"older" not in again or b"older" in content


def test_the_block_speaks_the_line_ends_of_the_file() -> None:
    assert b"\n" not in with_block(b"a\r\n", LINES).replace(b"\r\n", b"")


@pytest.mark.parametrize("added", [b"mine\n", b"\nmine", b"mine", b"\r\n\r\nmine\r\n"])
@pytest.mark.parametrize("content", [None, b"", b"# Title", b"# Title\n", b"# Title\r\n"])
def test_what_a_person_wrote_behind_the_block_stays(content: bytes | None, added: bytes) -> None:
    left = without_block(with_block(content, LINES) + added)
    assert left is not None
    assert left.endswith(added)
    assert left.split() == (content or b"").split() + added.split()


@pytest.mark.parametrize("content", [b"", b"text", BEGIN + b" -->\nunclosed\n", END])
def test_what_has_no_whole_block_stays(content: bytes) -> None:
    assert without_block(content) == content


@pytest.mark.parametrize("content", [b"\xff\xfe#\0", BEGIN + b" -->\nunclosed\n"])
def test_a_file_that_cannot_be_edited_safely_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(content)
    with pytest.raises(UnifiedStateError, match="nothing was changed"):
        add_pointer(str(tmp_path))
    assert path.read_bytes() == content
