"""What a kill, the disk or an editor makes of the files of a JSON store costs no more than what they changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unified_state.records.history import HistoryQuery, StoredSession, StoredStep, Tombstone
from unified_state.storage.tiers.json_damage import damaged_lines
from unified_state.storage.tiers.json_lines import JsonStore

from .json_stores import START, changed_on_disk, folder_of, item, step, texts


def test_a_torn_tail_is_never_read_and_cut_by_the_next_save(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1)])
    folder = folder_of(store)
    sizes = {name: (folder / name).stat().st_size for name in ("keys", "session-1.jsonl")}
    (folder / "journal").write_text(json.dumps(sizes) + "\n")
    with (folder / "session-1.jsonl").open("ab") as file:
        file.write(b'{"n":2,"uuid":"u2","tex')
    assert texts(JsonStore(str(tmp_path), "p")) == ["text 1"]
    store.append([step(3)])
    assert texts(store) == ["text 1", "text 3"]
    assert b"u2" not in (folder / "session-1.jsonl").read_bytes()


def test_half_a_journal_is_of_a_process_that_had_not_begun(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1)])
    (folder_of(store) / "journal").write_text('{"session-1.jsonl":')
    assert texts(JsonStore(str(tmp_path), "p")) == ["text 1"]


def test_a_line_that_the_disk_has_changed_is_left_out_and_counted(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([*(step(number, f"quokka {number}") for number in range(1, 10)), item(1, "D1"), item(2, "D2")])
    for name, good in (("session-1.jsonl", b'"text":"quokka 4"'), ("items.jsonl", b'"alias":"D1"')):
        path = folder_of(store) / name
        path.write_bytes(path.read_bytes().replace(good, b"\0" * len(good)))
    again = JsonStore(str(tmp_path), "p")
    assert texts(again) == [f"quokka {number}" for number in range(1, 10) if number != 4]
    assert [one.alias for one in again.items()] == ["D2"]
    assert len(again.search(HistoryQuery("quokka", limit=20))) == 8
    assert damaged_lines(str(tmp_path)) == 2
    again.append([step(10), Tombstone("step", "u5/0", START)])
    assert len(texts(again)) == 8


@pytest.mark.parametrize(
    ("name", "cut"), [("items.jsonl", 1), ("items.jsonl", 20), ("session-1.jsonl", 1), ("keys", 1)]
)
def test_what_comes_behind_a_last_line_without_an_end_is_a_line_of_its_own(tmp_path: Path, name: str, cut: int) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1), item(1, "D1")])
    path = folder_of(store) / name
    path.write_bytes(path.read_bytes()[:-cut])
    again = JsonStore(str(tmp_path), "p")
    assert again.append([step(1), step(2), item(2, "D2")]) == 2
    assert texts(again) == ["text 1", "text 2"]
    assert [one.alias for one in again.items()] == ["D1", "D2"][cut > 1 :]
    assert damaged_lines(str(tmp_path)) == (cut > 1)


def test_lines_that_an_editor_ended_otherwise_are_the_same(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1), step(2, session="two"), item(1, "D1")])
    for path in folder_of(store).iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    again = JsonStore(str(tmp_path), "p")
    assert again.append([step(1), step(2, session="two"), item(1, "D1"), step(3)]) == 1
    assert (texts(again), texts(again, "two")) == (["text 1", "text 3"], ["text 2"])
    assert [hit.step.text for hit in again.search(HistoryQuery("3"))] == ["text 3"]


def test_a_session_whose_line_the_disk_has_changed_gives_its_steps_to_no_other(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1, session="one"), step(2, session="two"), step(3, session="three")])
    again = changed_on_disk(store, "sessions.jsonl", b'{"n":1', b"\0" * 6)
    assert {one.session_id: texts(again, one.session_id) for one in again.sessions()} == {
        "two": ["text 2"],
        "three": ["text 3"],
    }
    again.append([step(4, session="four"), step(1, session="one")])
    assert (texts(again, "four"), texts(again, "three")) == (["text 4"], ["text 3"])
    last = changed_on_disk(again, "sessions.jsonl", b'{"n":4', b"\0" * 6)
    last.append([step(5, session="five")])
    assert texts(last, "five") == ["text 5"]


def test_sessions_that_an_earlier_version_wrote_keep_their_files(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1, session="one"), step(2, session="two")])
    for number in (b'"n":1,', b'"n":2,'):
        store = changed_on_disk(store, "sessions.jsonl", number, b"")
    store.append([step(3, session="three"), StoredSession("one", seen_at=1)])
    again = JsonStore(str(tmp_path), "p")
    assert {one.session_id: texts(again, one.session_id) for one in again.sessions()} == {
        "one": ["text 1"],
        "two": ["text 2"],
        "three": ["text 3"],
    }
    assert [one.unknown for one in again.sessions()] == [{}, {}, {}]


@pytest.mark.parametrize("bad", [b"\0\0\0\0", b'"u1" x', b"     ", b'"u1" 7'])
def test_a_key_that_the_disk_has_changed_stops_nothing(tmp_path: Path, bad: bytes) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1), step(2)])
    again = changed_on_disk(store, "keys", b'"u1" 0', bad)
    assert again.append([step(2), step(3), step(4, session="two")]) == 2
    assert (texts(again), texts(again, "two")) == (["text 1", "text 2", "text 3"], ["text 4"])
    assert [one.text for one in again.find_steps("u3")] == ["text 3"]
    again.append([Tombstone("session", "two", START + 10)])
    assert texts(again, "two") == []


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("items.jsonl", b'"status"', b'"statuz"'),
        ("items.jsonl", b'"alias":"D1"', b'"alias":1234'),
        ("items.jsonl", b'{"decision":"Use JSON"}', b"7"),
        ("items.jsonl", b'"created_at":"2026-01-01T00:00:00.000Z"', b'"created_at":null'),
        ("session-1.jsonl", b'"kind"', b'"kinb"'),
        ("session-1.jsonl", b'"at":1767225600001', b'"at":"yesterday"  '),
        ("session-1.jsonl", b'{"n":1', b'{"m":1'),
    ],
)
def test_a_line_that_is_json_and_no_record_is_left_out_and_counted(
    tmp_path: Path, name: str, good: bytes, bad: bytes
) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1), step(2), item(1, "D1"), item(2, "D2")])
    again = changed_on_disk(store, name, good, bad)
    assert (texts(again)[-1], [one.alias for one in again.items()][-1]) == ("text 2", "D2")
    assert len([*again.search(HistoryQuery("text")), *again.items()]) == 3
    assert damaged_lines(str(tmp_path)) == 1
    again.append([step(3), item(3, "D3"), Tombstone("item", "item-2", START)])
    assert texts(again)[-1] == "text 3"
    again.append([Tombstone("session", "one", START + 2)])
    assert texts(again) == ["text 3"]


def test_pages_behind_a_line_that_the_disk_has_changed_hold_all_others(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(number) for number in range(1, 10)])
    for number in range(1, 10):
        again = changed_on_disk(store, "session-1.jsonl", b'{"n":%d,' % number, b"\0" * 7)
        found: list[tuple[int, StoredStep]] = []
        while page := again.steps("one", found[-1][0] if found else 0, 2):
            found += page
        assert [one.uuid for _, one in found] == [f"u{other}" for other in range(1, 10) if other != number]
        changed_on_disk(store, "session-1.jsonl", b"\0" * 7, b'{"n":%d,' % number)
