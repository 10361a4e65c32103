"""The files of a session, each with the names that were seen in it."""

from __future__ import annotations

import pytest

from unified_state.lib.text import estimate_tokens
from unified_state.model.known import WorkingFile
from unified_state.restore.rules.file_lines import file_lines


def file(path: str, *names: str, is_used: bool = True, gone: str = "") -> WorkingFile:
    return WorkingFile(path=path, words=names, is_used=is_used, gone=gone)


def told(files: list[WorkingFile], tokens: int) -> list[str]:
    return list(file_lines(files, tokens))


def test_a_file_has_its_names() -> None:
    assert told([file("src/a.py", "parse_line", "read_all")], 100) == ["src/a.py: parse_line read_all"]


def test_a_long_file_does_not_take_the_room_of_the_others() -> None:
    names = [f"name_{number}" for number in range(999)]
    (line,) = told([file("a.py", *names)], 9999)
    assert line.count("name_") == 80


def test_a_file_that_is_gone_is_told_as_such_without_names() -> None:
    assert told([file("a.py", "parse_line", gone="deleted")], 100) == ["a.py (deleted)"]


@pytest.mark.parametrize("path", ["", "/", "a/", "x" * 300, "src/…/a.py", "src/a\u202e.py"])
def test_what_is_no_path_is_not_told(path: str) -> None:
    assert told([file(path, "parse_line")], 999) == []


def test_a_file_that_was_only_named_says_nothing() -> None:
    assert told([file("a.py", is_used=False)], 999) == []


@pytest.mark.parametrize(
    ("path", "shown"), [("[NOW]", "./[NOW]"), ("T7 (now) x", "./T7 (now) x"), ("文档/说明.md", "文档/说明.md")]
)
def test_a_path_does_not_look_like_another_line(path: str, shown: str) -> None:
    assert told([file(path, "parse_line")], 999) == [f"{shown}: parse_line"]


def test_they_keep_within_the_tokens() -> None:
    files = [file(f"src/{letter}.py", *(f"{letter}_{number}" for number in range(30))) for letter in "abcdefghij"]
    lines = told(files, 300)
    assert 0 < len(lines) < 10
    assert sum(estimate_tokens(f"{line}\n") for line in lines) <= 300
