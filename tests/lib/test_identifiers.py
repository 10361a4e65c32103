from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.identifiers import (
    identifiers,
    mentioned_files,
    relative_path,
    with_slashes,
)

WINDOWS = "C:\\Users\\ada\\shop"
any_text = st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF))


@pytest.mark.parametrize(
    "word",
    [
        "parse_config",
        "parseConfig",
        "ParseConfig",
        "HTTPServer",
        "_private_name",
        "MAX_SIZE",
        "iPhone",
        "größe_des_felds",
    ],
)
def test_words_that_no_prose_has_are_identifiers(word: str) -> None:
    assert identifiers(f"see {word}, please") == {word}


@pytest.mark.parametrize(
    "word",
    ["config", "Config", "CONFIG", "a_b", "fooB"[:3], "123_456", "___", "2fastToday", "Größe", "naïve", "x" * 30],
)
def test_words_of_prose_and_numbers_are_not(word: str) -> None:
    assert identifiers(f"see {word}, please") == set()


@pytest.mark.parametrize(
    "text", ["修复了parse_config函数", "“parse_config”", "a—parse_config…", "→parse_config\t", "«parse_config»"]
)
def test_an_identifier_is_found_whatever_stands_round_it(text: str) -> None:
    assert identifiers(text) == {"parse_config"}


@given(any_text)
def test_any_text_has_names_that_stand_in_it(text: str) -> None:
    names = identifiers(text)
    assert all(name in text for name in names)
    assert all(len(name) <= 200 and name.isprintable() and " " not in name for name in names)


def test_what_words_are_is_found_out_anew_when_there_were_too_many() -> None:
    for start in range(0, 60_000, 10_000):
        assert len(identifiers(" ".join(f"name_{number}" for number in range(start, start + 10_000)))) == 10_000
    assert identifiers("plain name_5 words") == {"name_5"}


@pytest.mark.parametrize(
    ("path", "root", "name"),
    [
        ("/home/ada/shop/src/a.py", "/home/ada/shop", "src/a.py"),
        ("/home/ada/shopping/a.py", "/home/ada/shop", "/home/ada/shopping/a.py"),
        ("/home/ada/shop/", "/home/ada/shop", "/home/ada/shop/"),
        ("src/a.py", "/home/ada/shop", "src/a.py"),
        ("/a.py", "", "/a.py"),
        (f"{WINDOWS}\\src\\a.py", WINDOWS, "src/a.py"),
        ("c:\\users\\ADA\\shop\\src\\a.py", WINDOWS, "src/a.py"),
        ("C:/Users/ada/shop/src/a.py", WINDOWS, "src/a.py"),
        ("D:\\a.py", WINDOWS, "D:/a.py"),
        ("\\\\server\\share\\src\\a.py", "\\\\server\\share", "src/a.py"),
        ("odd\\name.py", "/home/ada/shop", "odd\\name.py"),
    ],
)
def test_a_path_is_named_as_the_repository_names_it(path: str, root: str, name: str) -> None:
    assert relative_path(path, root) == name


def test_paths_written_on_windows_get_slashes_and_elsewhere_a_backslash_stays() -> None:
    text = f"see src\\a.py and {WINDOWS}\\src\\b.py"
    assert with_slashes(text, WINDOWS) == "see src/a.py and src/b.py"
    assert with_slashes(text, "/home/ada/shop") == text


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
