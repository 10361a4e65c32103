from __future__ import annotations

from typing import Any

import pytest

from tests.builders import NOW
from unified_state.lib.text import pack
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.working_set.working_set_table import (
    Entry,
    clear_working_set,
    move_clock,
    read_clock,
    read_entry,
    top_entries,
    write_entry,
)

FILE = "file"


@pytest.fixture
def session(archive: Archive) -> int:
    return touch_session(archive, "s", NOW)


def entry(name: str = "a.py", level: float = 1.0, words: dict[str, float] | None = None, **details: Any) -> Entry:
    return Entry(name, level, words or {}, details)


def test_an_entry_is_read_as_it_was_written(archive: Archive, session: int) -> None:
    written = entry(words={"parse_all": 1.25, "größe_x": -3.5}, hot=2.5, last="五 passed \ud83d")
    write_entry(archive, session, FILE, written)
    assert read_entry(archive, session, FILE, "a.py") == written


def test_levels_of_identifiers_are_kept_to_two_decimals(archive: Archive, session: int) -> None:
    write_entry(archive, session, FILE, entry(words={"parse_all": 1.23456}))
    found = read_entry(archive, session, FILE, "a.py")
    assert found is not None
    assert found.words == {"parse_all": 1.23}


def test_what_was_never_written_is_not_there(archive: Archive, session: int) -> None:
    write_entry(archive, session, FILE, entry())
    assert read_entry(archive, session, FILE, "b.py") is None
    assert read_entry(archive, session, "command", "a.py") is None
    assert read_entry(archive, session + 1, FILE, "a.py") is None


def test_a_later_entry_takes_the_place_of_the_one_of_its_name(archive: Archive, session: int) -> None:
    for level in (1.0, 2.0):
        write_entry(archive, session, FILE, entry(level=level))
    assert [found.level for found in top_entries(archive, session, FILE, 9)] == [2.0]


def test_the_top_is_the_weightiest_and_of_equals_the_first_by_name(archive: Archive, session: int) -> None:
    for name, level in (("d", 1.0), ("c", 5.0), ("b", -2.0), ("a", 5.0)):
        write_entry(archive, session, FILE, entry(name, level))
    write_entry(archive, session, "command", entry("other kind", 9.0))
    write_entry(archive, touch_session(archive, "other", NOW), FILE, entry("other session", 9.0))
    assert [found.name for found in top_entries(archive, session, FILE, 3)] == ["a", "c", "d"]


def test_the_top_is_found_through_an_index(archive: Archive) -> None:
    plan = archive.rows(
        "EXPLAIN QUERY PLAN SELECT name, level, data FROM working_set WHERE session = ? AND kind = ? "
        "ORDER BY level DESC, name LIMIT 9",
        1,
        FILE,
    )
    assert "USING INDEX working_set_by_level" in plan[0][-1]
    assert not any("USE TEMP B-TREE FOR ORDER BY" in row[-1] for row in plan)


@pytest.mark.parametrize("name", ["", "it's.py", "a\nb\x00c", "語.py", "\ud83d.py", "x" * 1000])
def test_an_entry_may_have_any_name(archive: Archive, session: int, name: str) -> None:
    write_entry(archive, session, FILE, entry(name, words={"a_name": 1.0}))
    found = read_entry(archive, session, FILE, name)
    assert found is not None
    assert found.words == {"a_name": 1.0}


@pytest.mark.parametrize("data", [b"\x00 no zlib", "no JSON", "[1]", "7", "[{},{},{}]", pack('[{"a_name":1'), "{}"])
def test_of_an_entry_whose_bytes_were_changed_the_name_and_the_level_are_left(
    archive: Archive, session: int, data: str | bytes
) -> None:
    archive.run("INSERT INTO working_set VALUES (?, ?, 'a.py', 2.0, ?)", session, FILE, data)
    assert read_entry(archive, session, FILE, "a.py") == entry(level=2.0)


def test_the_clock_of_a_session_begins_at_nothing_and_is_its_own(archive: Archive, session: int) -> None:
    other = touch_session(archive, "other", NOW)
    move_clock(archive, session, 7)
    assert (read_clock(archive, session), read_clock(archive, other)) == (7, 0)


def test_a_working_set_can_be_emptied_and_others_stay(archive: Archive, session: int) -> None:
    other = touch_session(archive, "other", NOW)
    for number in (session, other):
        write_entry(archive, number, FILE, entry())
        move_clock(archive, number, 7)
    clear_working_set(archive, session)
    assert (read_clock(archive, session), top_entries(archive, session, FILE, 9)) == (0, [])
    assert (read_clock(archive, other), len(top_entries(archive, other, FILE, 9))) == (7, 1)
