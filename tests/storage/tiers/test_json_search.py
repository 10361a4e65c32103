"""A search through files of JSON finds what it should, wherever and however that is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.records.history import HistoryQuery
from unified_state.storage.tiers.json_lines import JsonStore

from .json_stores import START, folder_of, step, texts


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


def test_only_the_first_line_of_a_batch_tells_whose_session_it_is(tmp_path: Path) -> None:
    store = JsonStore(str(tmp_path), "p")
    store.append([*(step(number) for number in range(1, 500)), step(500, "the session")])
    assert (folder_of(store) / "session-1.jsonl").read_bytes().count(b"session") == 2
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
