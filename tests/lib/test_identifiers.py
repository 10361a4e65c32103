from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processes import ROOT
from unified_state.lib.identifiers import (
    identifiers,
    mentioned_files,
    relative_path,
    stands_in,
    with_slashes,
    words_of,
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
    assert words_of(text)[1] == {path}


@pytest.mark.parametrize(
    "text", ["e.g. this", "1.5", "the .py ending", "*.py", "v1.2.3", "i.e.", "", "http://a.b/c.py", "x//y.py"]
)
def test_other_words_with_a_dot_are_no_paths(text: str) -> None:
    assert words_of(text)[1] == set()


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("fixes #12", "#12"),
        ("fixes #12.", "#12"),
        ("(#12),", "#12"),
        ("see ada/shop#12!", "ada/shop#12"),
        ("in 1a2b3c4.", "1a2b3c4"),
        ("in " + "1a2b3c4d5e" * 4, "1a2b3c4d5e" * 4),
        ("at https://example.com/a?b=c#d.", "https://example.com/a?b=c#d"),
        ("[it](https://example.com/a)", "https://example.com/a"),
        ("见https://example.com/a。然后", "https://example.com/a"),
        ("<http://example.com/a>", "http://example.com/a"),
    ],
)
def test_issues_commits_and_urls_are_references(text: str, reference: str) -> None:
    assert words_of(text)[2] == {reference}


@pytest.mark.parametrize(
    "text",
    [
        "#include",
        "# 12",
        "#12345678",
        "effaced",
        "1234567",
        "12ab",
        "http",
        "https://",
        "http ://example.com/aaa",
        "C#12b",
    ],
)
def test_what_only_looks_like_one_is_no_reference(text: str) -> None:
    assert words_of(text)[2] == set()


def test_of_two_urls_the_one_that_begins_the_other_is_known_too() -> None:
    urls = {"https://example.com/a", "https://example.com/a/issues.py"}
    words, paths, references = words_of(" ".join(urls))
    assert (words, paths, references) == (set(), set(), urls)


def test_a_url_cannot_bring_control_characters_along() -> None:
    assert words_of("https://example.com/a\x1b[31mred\u202e")[2] == {"https://example.com/a"}


@given(any_text)
def test_any_text_has_names_that_stand_in_it(text: str) -> None:
    words, paths, references = words_of(text)
    assert identifiers(text) >= words - {word for url in references for word in identifiers(url)}
    assert all(name in text for name in (*words, *paths, *references))
    assert all(len(name) <= 200 and name.isprintable() and " " not in name for name in (*words, *paths, *references))


def test_what_words_are_is_found_out_anew_when_there_were_too_many() -> None:
    for start in range(0, 60_000, 10_000):
        assert len(identifiers(" ".join(f"name_{number}" for number in range(start, start + 10_000)))) == 10_000
    assert identifiers("plain name_5 words") == {"name_5"}


NAMES = "from unified_state.lib.identifiers import words_of; print([sorted(w) for w in words_of(sys.argv[1])])"


def test_the_order_in_which_this_python_hashes_changes_nothing() -> None:
    text = "https://a.example/x https://a.example/x/y.py #1 a.py b_name.py c_name d/e.py"
    printed = {
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {NAMES}", text],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(printed) == 1


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
    ("word", "text", "stands"),
    [
        ("#1", "see #12", False),
        ("#1", "see #12 and #1.", True),
        ("a.py", "data.py", False),
        ("a.py", "a.py", True),
        ("parse", "parse_config", False),
        ("go test", "`go test`", True),
        ("x", "", False),
    ],
)
def test_a_word_stands_in_a_text_where_it_is_no_part_of_a_longer_one(word: str, text: str, stands: bool) -> None:
    assert stands_in(word, text) is stands


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
