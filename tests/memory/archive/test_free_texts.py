from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import NOW, SESSION
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.compactions import (
    Restore,
    begin_compaction,
    find_compaction,
    keep_restore,
    keep_summary,
    restores_of,
)
from unified_state.memory.archive.free_texts import FreeText, forget_free_text, free_texts, replace_free_text
from unified_state.memory.archive.session_notes import add_notes, open_notes
from unified_state.memory.archive.sessions import change_work, read_work, touch_session
from unified_state.memory.history.archive_rows import carried, carry

LONG = "summed up " * 50  # so long that it is stored compressed
Read = Callable[[Archive], Any]


def git_of(archive: Archive) -> str:
    (git,) = archive.row("SELECT git FROM saved")
    return str(git)


READ: dict[str, Read] = {
    "K1": lambda archive: getattr(find_compaction(archive, 1), "summary", None),
    "note 1": lambda archive: open_notes(archive, 1, "highlight", 5),
    f"session {SESSION}": lambda archive: read_work(archive, 1),
    "restore abc": lambda archive: restores_of(archive, 1)[0].text,
    "what came with step 12": lambda archive: carried(archive, "step", 12),
    "git in /a": git_of,
}


@pytest.fixture
def archive(archive: Archive) -> Archive:
    """An archive with a text of each kind."""
    session = touch_session(archive, SESSION, NOW)
    compaction = begin_compaction(archive, session, NOW)
    keep_summary(archive, compaction, LONG, "transcript")
    restore = Restore(nonce="abc", session=session, compaction=1, part="brief", at=NOW, delivered_at=None, text=LONG)
    keep_restore(archive, restore)
    add_notes(archive, session, "highlight", ["half \ud83d"], "t")
    change_work(archive, session, {"branch": "main"})
    carry(archive, "step", 12, {"unknown": {"branch": "main"}})
    archive.run("INSERT INTO saved VALUES ('/a', 't', 'manual', '{\"branch\":\"main\"}')")
    return archive


def found(archive: Archive, name: str) -> FreeText:
    return next(text for text in free_texts(archive) if text.name == name)


def test_every_text_outside_steps_and_items_is_found(archive: Archive) -> None:
    assert {text.name: text.text for text in free_texts(archive)} == {
        "K1": LONG,
        "note 1": "half \\ud83d",
        f"session {SESSION}": '{"branch":"main"}',
        "restore abc": LONG,
        "what came with step 12": '{"unknown":{"branch":"main"}}',
        "git in /a": '{"branch":"main"}',
    }


def test_what_is_json_and_what_is_a_summary_is_said(archive: Archive) -> None:
    assert [text.name for text in free_texts(archive) if text.is_json] == [
        f"session {SESSION}",
        "what came with step 12",
        "git in /a",
    ]
    assert [text.name for text in free_texts(archive) if text.is_summary] == ["K1"]


@pytest.mark.parametrize("name", READ)
def test_another_text_takes_its_place(archive: Archive, name: str) -> None:
    text = found(archive, name)
    other = text.text.replace("main", "other").replace("summed", "cut")
    replace_free_text(archive, text, other)
    assert found(archive, name).text == other
    assert len(free_texts(archive)) == len(READ)


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("K1", "[forgotten]"),
        ("note 1", ()),
        (f"session {SESSION}", {}),
        ("restore abc", "[forgotten]"),
        ("what came with step 12", {}),
        ("git in /a", "{}"),
    ],
)
def test_what_is_forgotten_is_gone_and_the_others_stay(archive: Archive, name: str, left: object) -> None:
    before = {other: read(archive) for other, read in READ.items()}
    forget_free_text(archive, found(archive, name))
    assert {other: read(archive) for other, read in READ.items()} == {**before, name: left}


def test_no_table_with_texts_is_left_out(archive: Archive) -> None:
    """A new column of texts has to be looked at too: by `free_texts`, or where steps and items are; working sets are
    made anew from their steps.
    """
    tables = archive.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'step_text_%'")
    assert {name for (name,) in tables} == {
        *("compaction", "note", "restore", "saved", "session"),
        *("step", "step_copy", "step_text", "turn", "item", "item_alias", "item_link"),
        *("counter", "meta", "transcript", "working_set", "unnoted", "access", "failing", "uncaptured", "survival"),
        *("rewind", "continuation"),
        *("outbox", "outbox_server", "outbox_session", "outbox_vectors", "sqlite_sequence"),
        *(
            "context",
            "context_point",
            "news",
            "enforcement",
            "shortened",
            "carried",
            "tombstone",
            "vector",
            "vector_model",
            "unindexed",
            "pruned",
        ),
    }
