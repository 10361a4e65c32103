from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.words.identifiers import mentioned_files


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("we changed src/app.py and README.md.", ("src/app.py", "README.md")),
        ("see `lib/naïve.ts`, (docs/a.md) and 'b.c'", ("lib/naïve.ts", "docs/a.md", "b.c")),
        ("it fails in a/b.py:12 and a/b.py:40:7", ("a/b.py",)),
        ("../up.sh ./here.sh /etc/hosts.allow", ("../up.sh", "./here.sh", "/etc/hosts.allow")),
        ("version 1.2 costs 3.50, see https://example.org/a.html", ()),
        ("and so on... etc. .gitignore word", ()),
        ("", ()),
    ],
)
def test_words_that_look_like_files_are_found(text: str, files: tuple[str, ...]) -> None:
    assert mentioned_files(text) == files


@pytest.mark.parametrize("text", ["a small one, e.g. this", "(i.e. that)"])
def test_an_abbreviation_is_no_file(text: str) -> None:
    assert mentioned_files(text) == ()


def test_a_file_is_named_once() -> None:
    assert mentioned_files("a.py b.py a.py") == ("a.py", "b.py")


def test_no_more_than_twenty_files_are_taken() -> None:
    assert len(mentioned_files(" ".join(f"file{number}.py" for number in range(50)))) == 20


def test_a_very_long_word_is_no_file() -> None:
    assert mentioned_files("a" * 300 + ".py") == ()


@given(st.text())
def test_a_file_is_a_part_of_the_text(text: str) -> None:
    assert all(path in text for path in mentioned_files(text))
