"""The JSON tier beyond the contracts: what lies on the disk, and what a killed process or a full disk leaves there."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from stat import S_IMODE
from time import sleep

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unified_state.errors import NewerVersionError, StorageError
from unified_state.records.history import HistoryQuery, StoredItem, StoredSession, StoredStep, Tombstone
from unified_state.storage.tiers.json_damage import damaged_lines
from unified_state.storage.tiers.json_lines import JsonStore
from unified_state.storage.tiers.protocol import everything

START = 1_767_225_600_000
KILLS = 25

APPEND_UNTIL_KILLED = """
import sys
from unified_state.records.history import StoredStep
from unified_state.storage.tiers.json_damage import damaged_lines
from unified_state.storage.tiers.json_lines import JsonStore
folder, run = sys.argv[1:]
store = JsonStore(folder, "p")
print("ready", flush=True)
for batch in range(1000):
    steps = [
        StoredStep(f"s{number % 2}", f"{run}/{batch}/{number}", 0, "text", 1, "x" * 5000)
        for number in range(6)
    ]
    store.append(steps)
    print(batch, flush=True)
"""


def step(number: int, text: str = "", session: str = "one") -> StoredStep:
    return StoredStep(
        session_id=session, uuid=f"u{number}", block=0, kind="text", at=START + number, text=text or f"text {number}"
    )


def item(number: int, alias: str, text: str = "Use JSON") -> StoredItem:
    return StoredItem(
        uuid=f"item-{number}",
        alias=alias,
        kind="decision",
        body={"decision": text},
        status="active",
        origin="inferred",
        created_at="2026-01-01T00:00:00.000Z",
    )


def folder_of(store: JsonStore) -> Path:
    return Path(store.files.folder)


def texts(store: JsonStore, session: str = "one") -> list[str]:
    return [one.text for _, one in store.steps(session)]


def test_a_save_does_not_rewrite_what_other_sessions_said(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1), step(2, session="two")])
    before = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder_of(store).iterdir()}
    store.append([step(3)])
    after = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder_of(store).iterdir()}
    assert {name for name in before if before[name] != after[name]} <= {"session-1.jsonl", "keys", "journal"}
    assert {ino for ino, _ in before.values()} == {ino for ino, _ in after.values()}  # appended to, not replaced


def test_all_files_are_private(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path / "new"), "p")
    store.append([step(1), item(1, "D1"), Tombstone("step", "u1/0", START)])
    paths = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert {S_IMODE(path.stat().st_mode) for path in paths if path.is_dir()} == {0o700}
    assert {S_IMODE(path.stat().st_mode) for path in paths if path.is_file()} == {0o600}


def test_reading_an_empty_store_makes_nothing(tmp_path: Path) -> None:
    assert list(everything(JsonStore(str(tmp_path / "none"), "p"))) == []
    assert list(tmp_path.iterdir()) == []


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


def test_a_killed_writer_leaves_whole_batches_and_none_that_it_acknowledged_is_missing(tmp_path: Path) -> None:
    chances = random.Random(20_261_122)
    acknowledged: set[tuple[str, int]] = set()
    for run in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", APPEND_UNTIL_KILLED, str(tmp_path), str(run)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            sleep(chances.random() * 0.05)
            process.kill()
            acknowledged |= {(str(run), int(line)) for line in process.stdout.read().split("\n")[:-1]}
    store = JsonStore(str(tmp_path), "p")
    found = [one.uuid.split("/") for name in ("s0", "s1") for one in _all(store, name)]
    batches = {(run, int(batch)) for run, batch, _ in found}
    assert acknowledged <= batches
    assert acknowledged
    assert len(found) == len(batches) * 6 == store.counts().steps


def _all(store: JsonStore, session: str) -> list[StoredStep]:
    found: list[tuple[int, StoredStep]] = []
    while page := store.steps(session, found[-1][0] if found else 0):
        found += page
    return [one for _, one in found]


def test_a_process_that_is_killed_while_it_forgets_leaves_nothing_to_be_read_and_the_next_cleans_up(
    tmp_path: Path,
) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1, "swordfish"), step(2), item(1, "D1", "swordfish")])
    folder = folder_of(store)
    with (folder / "tombstones.jsonl").open("ab") as file:  # as after the tombstones, before the cleaning
        file.write(b'{"what":"step","key":"u1/0","at":1}\n{"what":"item","key":"item-1","at":1}\n')
    (folder / "cleaning").write_bytes(b"\n")
    again = JsonStore(str(tmp_path), "p")
    assert "swordfish" not in repr([*everything(again), *again.search(HistoryQuery("swordfish"))])
    again.append([step(3)])
    assert b"swordfish" not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_what_is_forgotten_is_in_no_file(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1, "swordfish"), step(1, "swordfish", "fork"), item(1, "D1", "swordfish"), step(2)])
    store.append([Tombstone("step", "u1/0", START), Tombstone("item", "item-1", START)])
    assert b"swordfish" not in b"".join(path.read_bytes() for path in folder_of(store).iterdir())
    store.append([item(2, "D1")])
    assert [one.alias for one in store.items()] == ["D2"]  # an alias is never given twice


def test_what_is_forgotten_is_not_in_what_a_killed_process_left_either(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1, "swordfish"), step(2)])
    folder = folder_of(store)
    (folder / "session-1.jsonl.123.abcdef01.tmp").write_bytes((folder / "session-1.jsonl").read_bytes())
    store.append([Tombstone("step", "u1/0", START)])
    assert b"swordfish" not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_an_item_without_an_alias_is_given_the_next(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([item(1, "D7"), item(2, ""), item(3, "")])
    assert [(one.alias, one.aliases) for one in store.items()] == [("D7", ()), ("D8", ()), ("D9", ())]


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1)])
    path = folder_of(store) / "store.json"
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    with pytest.raises(NewerVersionError, match="has version 2"):
        JsonStore(str(tmp_path), "p")


def test_lines_about_sessions_do_not_pile_up(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    for number in range(450):
        store.append([StoredSession("one", seen_at=number), StoredSession("two", seen_at=number)])
    assert len((folder_of(store) / "sessions.jsonl").read_bytes().splitlines()) < 250
    assert [(one.session_id, one.seen_at) for one in store.sessions()] == [("one", 449), ("two", 449)]


def test_what_does_not_fit_on_the_disk_is_not_there_at_all(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1)])
    os.symlink("/dev/full", folder_of(store) / "items.jsonl")
    with pytest.raises(StorageError, match="No space left"):
        store.append([step(2), item(1, "D1")])
    (folder_of(store) / "items.jsonl").unlink()
    assert texts(store) == ["text 1"]
    assert store.append([step(2), item(1, "D1")]) == 2


def test_a_name_of_a_project_leads_nowhere_else(tmp_path: Path) -> None:
    for project in ("../other", "a/b", "", "UPPER", "日本", "x" * 300, "nul\0"):
        with JsonStore(str(tmp_path / "stores"), project) as store:
            store.append([step(1)])
            assert folder_of(store).parent == tmp_path / "stores"
    assert len([path for path in (tmp_path / "stores").iterdir() if path.is_dir()]) == 7


@given(st.lists(st.text(), min_size=1, max_size=5), st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, said: list[str], odd: dict[str, object]
) -> None:
    store = JsonStore(str(tmp_path_factory.mktemp("store")), "p")
    given_steps = [step(number, text or "x").replace(unknown=odd) for number, text in enumerate(said)]
    store.append(given_steps)
    assert _all(store, "one") == given_steps


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("we planned the migration", "planning migrations"),
        ("the caches were emptied", "empty cache"),
        ("import stuff from the libraries", "library"),
        ("running fast", "run"),
    ],
)
def test_a_search_finds_other_forms_of_a_word(tmp_path: Path, said: str, asked: str) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([*(step(number) for number in range(2, 30)), step(1, said)])
    assert [hit.step.text for hit in store.search(HistoryQuery(asked))][:1] == [said]


def test_a_filter_finds_what_stands_behind_hundreds_of_better_matches(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([*(step(number, "quokka quokka") for number in range(1, 900)), step(950, "the quokka")])
    assert [hit.step.text for hit in store.search(HistoryQuery("quokka", since=START + 940))] == ["the quokka"]


def test_in_a_fork_what_it_shares_is_found_however_much_that_is(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    shared = [*(step(number) for number in range(600)), step(600, "the quokka", session="one")]
    store.append([*shared, *(one.replace(session_id="fork") for one in shared), step(601, "an emu", "fork")])
    found = store.search(HistoryQuery("quokka", session_id="fork"))
    assert [(hit.step.text, hit.step.session_id) for hit in found] == [("the quokka", "fork")]
    assert [hit.step.session_id for hit in store.search(HistoryQuery("quokka"))] == ["one"]


def test_who_looks_for_the_word_session_does_not_find_every_line(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([*(step(number) for number in range(1, 500)), step(500, "the session")])
    assert (folder_of(store) / "session-1.jsonl").read_bytes().count(b"session") == 1
    assert texts(store)[-1:] == ["the session"]


def test_letters_whose_lower_case_is_longer_move_no_line(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([*(step(number, "İİİ ẞẞ") for number in range(1, 50)), step(50, "LA DÉCISION"), step(51, "it was")])
    assert [hit.step.text for hit in store.search(HistoryQuery("décision"))] == ["LA DÉCISION"]


def test_the_best_of_more_matches_than_a_search_keeps_is_found(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([*(step(number, "a hook") for number in range(24_000)), step(24_000, "the hook of the quokka")])
    store.append([step(number, "a hook") for number in range(24_001, 48_000)])
    assert store.search(HistoryQuery("hook quokka"))[0].step.text == "the hook of the quokka"


def test_lines_longer_than_the_parts_that_are_read_are_found(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1, "before"), step(2, "quokka " + "é " * 5_000_000), step(3, "behind it an emu")])
    assert [hit.step.uuid for hit in store.search(HistoryQuery("quokka"))] == ["u2"]
    assert [hit.step.uuid for hit in store.search(HistoryQuery("emu"))] == ["u3"]


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


def changed_on_disk(store: JsonStore, name: str, good: bytes, bad: bytes) -> JsonStore:
    """The store, one of whose files has other bytes now in one place."""
    path = folder_of(store) / name
    assert good in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(good, bad, 1))
    return JsonStore(str(folder_of(store).parent), "p")


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
