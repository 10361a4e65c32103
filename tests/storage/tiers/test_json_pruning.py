"""Old steps leave a JSON store when that is asked for; what items come from stays, and nothing comes back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from unified_state.records.history import HistoryQuery, StoredItem
from unified_state.storage.tiers.json_lines import JsonStore
from unified_state.storage.tiers.json_pruning import choose_older, prune_older
from unified_state.storage.tiers.protocol import everything

from .json_stores import START, item, step, texts

_PRUNE_STRUCK = """
import os, signal, sys
from unified_state.storage.tiers.json_lines import JsonStore
from unified_state.storage.tiers.json_pruning import prune_older
folder, left, before = sys.argv[1], [int(sys.argv[2])], int(sys.argv[3])
store = JsonStore(folder, "p")
def strike(event, arguments):
    if event.split(".")[0] in ("open", "os") and any(folder in str(argument) for argument in arguments):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(strike)
prune_older(store.files, before)
"""


EVIDENCE = StoredItem(
    uuid="item",
    alias="E1",
    kind="evidence",
    body={"content": "it failed"},
    status="active",
    origin="observed",
    created_at="2026-01-01T00:00:00.000Z",
    source_uuid="u2",
)


@pytest.fixture
def store(tmp_path: Path) -> JsonStore:
    """Steps 1 to 3 of long ago, the first with a fork, the second what an item comes from; and step 9 of now."""
    made = JsonStore(str(tmp_path), "p")
    made.append([step(1, "oldzebra"), step(2), step(3), step(9), step(1, "oldzebra", "fork"), EVIDENCE])
    return made


def test_what_would_go_is_told_and_stays(store: JsonStore) -> None:
    before = list(everything(store))
    would, keys = choose_older(store.files, START + 5)
    assert (would.steps, would.kept, would.sessions, len(keys)) == (2, 1, 1, 2)
    assert (would.first_at, would.last_at) == (START + 1, START + 3)
    assert would.bytes > 0
    assert list(everything(store)) == before


def test_old_steps_leave_every_byte_and_what_items_come_from_stays(store: JsonStore) -> None:
    assert prune_older(store.files, START + 5).steps == 2
    assert (texts(store), texts(store, "fork")) == (["text 2", "text 9"], [])
    assert b"oldzebra" not in b"".join(path.read_bytes() for path in Path(store.files.folder).iterdir())
    assert store.search(HistoryQuery("oldzebra")) == []
    assert list(store.items()) == [EVIDENCE]
    assert store.counts().steps == 2
    assert prune_older(store.files, START + 5).steps == 0


def test_a_turn_that_is_named_stays_to_its_end_and_no_further_in_both_sessions(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    begins, others = step(2).replace(starts_turn=True), step(4).replace(agent="helper", starts_turn=True)
    steps = [step(1), begins, step(3), others, step(5), step(6).replace(starts_turn=True)]
    store.append([*steps, *(one.replace(session_id="fork") for one in steps)])
    store.append([item(1, "D1", "as agreed:\nT8 and T1000")])  # the fork's turn, of which the steps are elsewhere
    assert prune_older(store.files, START + 100).kept == 3
    assert texts(store) == texts(store, "fork") == ["text 2", "text 3", "text 5"]
    store.append([item(2, "D2", "T7, of which nothing is left")])
    assert choose_older(store.files, START + 100)[0].kept == 3


def test_what_was_pruned_does_not_come_back_and_was_not_forgotten(store: JsonStore) -> None:
    prune_older(store.files, START + 5)
    assert store.append([step(1, "oldzebra"), step(3), step(3, session="new"), step(10)]) == 1
    assert texts(store) == ["text 2", "text 9", "text 10"]
    assert list(store.tombstones()) == []


def test_no_ref_is_given_again(store: JsonStore) -> None:
    places = [place for place, _ in store.steps("one")]
    prune_older(store.files, START + 100)
    store.append([step(200)])
    assert store.steps("one")[-1][0] > max(places)


def test_a_prune_that_is_killed_at_any_point_is_finished_by_who_writes_next(store: JsonStore, tmp_path: Path) -> None:
    for point in range(1, 60, 3):
        first = 100 * point
        store.append([step(first + number, "oldzebra") for number in range(3)])
        subprocess.run(
            [sys.executable, "-c", _PRUNE_STRUCK, str(tmp_path), str(point), str(START + first + 2)], check=False
        )
        assert {"text 2", "oldzebra"} >= set(texts(store)) - {"text 9"} - {f"text {first}" for first in range(6000)}
        store.append([step(first + 50)])
        prune_older(store.files, START + first + 2)
        assert texts(store).count("oldzebra") == 1
        prune_older(store.files, START + first + 3)
    assert b"oldzebra" not in b"".join(path.read_bytes() for path in Path(store.files.folder).iterdir())
    assert list(store.items()) == [EVIDENCE]
    assert "text 2" in texts(store)
