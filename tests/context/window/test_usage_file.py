from __future__ import annotations

import os
from pathlib import Path

import pytest

from unified_state.context.window.usage_file import keep_usage, read_usage
from unified_state.model.context_usage import Reading

READING = Reading(124_000, 200_000, 5)


def test_what_the_client_said_is_read_again(tmp_path: Path) -> None:
    keep_usage(str(tmp_path), "s", READING)
    assert read_usage(str(tmp_path), "s") == READING
    assert read_usage(str(tmp_path), "another") is None


def test_the_same_figures_are_not_written_again(tmp_path: Path) -> None:
    keep_usage(str(tmp_path), "s", READING)
    keep_usage(str(tmp_path), "s", READING.replace(at=9))
    assert read_usage(str(tmp_path), "s") == READING


@pytest.mark.parametrize("name", ["../../escaped", "/etc/passwd", "a\0b", "é", "x" * 5_000, "", "\ud800"])
def test_no_session_id_leaves_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    keep_usage(str(folder), name, READING)
    assert read_usage(str(folder), name) == READING
    assert [path.parent for path in tmp_path.rglob("*.json")] == [folder / "usage"]


def test_files_of_old_sessions_go(tmp_path: Path) -> None:
    for number in range(60):
        keep_usage(str(tmp_path), f"s{number}", READING)
        os.utime(tmp_path / "usage" / f"s{number}.json", (number, number))
    names = {path.stem for path in (tmp_path / "usage").iterdir()}
    assert names == {f"s{number}" for number in range(10, 60)}


@pytest.mark.parametrize("content", ["", "[", "[1]", '["a", 2, 3]', "[-1, 2, 3]", "[1, 0, 3]", "null", "[" * 100_000])
def test_a_damaged_file_tells_nothing(tmp_path: Path, content: str) -> None:
    keep_usage(str(tmp_path), "s", READING)
    (tmp_path / "usage" / "s.json").write_text(content)
    assert read_usage(str(tmp_path), "s") is None


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    keep_usage(str(tmp_path), "s", READING)
    assert (tmp_path / "usage" / "s.json").stat().st_mode & 0o077 == 0
