from __future__ import annotations

from typing import Any

import pytest

from tests.builders import NOW
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.capture.working_set.working_set_table import (
    Entry,
    read_entry,
    write_entry,
)
from unified_state.lib.text import pack


@pytest.fixture
def session(archive: Archive) -> int:
    return touch_session(archive, "s", NOW)


def entry(name: str = "a.py", level: float = 1.0, words: dict[str, float] | None = None, **more: Any) -> Entry:
    return Entry(name, level, words or {}, **more)


def test_an_entry_is_read_as_it_was_written(archive: Archive, session: int) -> None:
    written = entry(words={"parse_all": 1.25, "größe_x": -3.5}, is_used=True, gone="五 \ud83d")
    write_entry(archive, session, written)
    assert read_entry(archive, session, "a.py") == written


def test_the_top_is_found_through_an_index(archive: Archive) -> None:
    plan = archive.rows(
        "EXPLAIN QUERY PLAN SELECT path, level, data FROM working_set WHERE session = ? "
        "ORDER BY level DESC, path LIMIT 9",
        1,
    )
    assert "USING INDEX working_set_by_level" in plan[0][-1]
    assert not any("USE TEMP B-TREE FOR ORDER BY" in row[-1] for row in plan)


@pytest.mark.parametrize("name", ["", "it's.py", "a\nb\x00c", "語.py", "\ud83d.py", "x" * 1000])
def test_an_entry_may_have_any_name(archive: Archive, session: int, name: str) -> None:
    write_entry(archive, session, entry(name, words={"a_name": 1.0}))
    found = read_entry(archive, session, name)
    assert found is not None
    assert found.words == {"a_name": 1.0}


@pytest.mark.parametrize("data", [b"\x00 no zlib", "no JSON", "[1]", "7", "[{},{}]", pack('[{"a_name":1'), "{}"])
def test_of_an_entry_whose_bytes_were_changed_the_name_and_the_level_are_left(
    archive: Archive, session: int, data: str | bytes
) -> None:
    archive.run("INSERT INTO working_set VALUES (?, 'a.py', 2.0, ?)", session, data)
    assert read_entry(archive, session, "a.py") == entry(level=2.0)
