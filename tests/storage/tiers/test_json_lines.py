"""The JSON tier beyond the contracts: what lies on the disk, and what a killed process or a full disk leaves there."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from stat import S_IMODE
from time import sleep

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unified_state.errors import NewerVersionError, StorageError
from unified_state.records.history import HistoryQuery, StoredSession, StoredStep, Tombstone
from unified_state.storage.tiers.json_batch import Batch
from unified_state.storage.tiers.json_lines import JsonStore
from unified_state.storage.tiers.protocol import everything

from .json_stores import START, folder_of, item, step, texts

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


def test_what_was_masked_is_read_masked_also_where_its_writer_was_killed_before_the_files_had_it(
    tmp_path: Path,
) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1, "the swordfish"), step(1, "the swordfish", session="two"), step(2)])
    batch = Batch(store.files)
    batch.add(step(1, "the [MASKED]").replace(masked_at=START))
    store.files.append(batch.additions)
    assert (texts(store), texts(store, "two")) == (["the [MASKED]", "text 2"], ["the [MASKED]"])
    assert store.search(HistoryQuery(text="swordfish")) == []
    store.append([step(1, "the swordfish").replace(masked_at=START - 1), step(3)])
    assert (texts(store), texts(store, "two")) == (["the [MASKED]", "text 2", "text 3"], ["the [MASKED]"])
    assert not any(b"swordfish" in path.read_bytes() for path in folder_of(store).iterdir())


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


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """While the system lets no file grow beyond a size, as a disk that is nearly full."""
    before = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, before)


def test_what_there_was_no_room_to_clean_away_goes_when_it_is_asked_for_again(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([step(1, "swordfish"), step(2, "x" * 100_000)])
    forgetting = [Tombstone("step", "u1/0", START)]
    with no_file_longer_than(50_000):
        with pytest.raises(StorageError, match="cannot be written"):
            store.append(forgetting)
        assert store.append([item(1, "D1")]) == 1  # which is there, so that nobody records it once more
        assert [one.alias for one in store.items()] == ["D1"]
    assert store.append(forgetting) == 0
    assert b"swordfish" not in b"".join(path.read_bytes() for path in folder_of(store).iterdir())


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
