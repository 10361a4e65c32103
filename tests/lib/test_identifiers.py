from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.identifiers import (
    identifiers,
    mentioned_files,
    paths_in,
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


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("open src/app/main.py, then", "src/app/main.py"),
        ("(see `README.md`)", "README.md"),
        ("It is in ./src/main.rs.", "src/main.rs"),
        ("at src/main.go:12:4", "src/main.go"),
        ("+++ src/a.ts", "src/a.ts"),
        ("look at @src/a.ts", "src/a.ts"),
        ("../other/a.c", "../other/a.c"),
        ("~/notes.md", "~/notes.md"),
        ("/etc/hosts.conf", "/etc/hosts.conf"),
        (".github/ci.yml", ".github/ci.yml"),
        ("docs/Übersicht.md", "docs/Übersicht.md"),
        ("修改src/app.py的代码", "src/app.py"),
        ("src/App.TSX", "src/App.TSX"),
    ],
)
def test_words_with_the_ending_of_a_file_are_paths(text: str, path: str) -> None:
    assert paths_in(text) == {path}


@pytest.mark.parametrize(
    "text", ["e.g. this", "1.5", "the .py ending", "*.py", "v1.2.3", "i.e.", "", "http://a.b/c.py", "x//y.py"]
)
def test_other_words_with_a_dot_are_no_paths(text: str) -> None:
    assert paths_in(text) == set()


@given(any_text)
def test_any_text_has_names_that_stand_in_it(text: str) -> None:
    names = identifiers(text) | paths_in(text)
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
