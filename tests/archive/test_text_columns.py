from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import NOW, SESSION
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import (
    Restore,
    begin_compaction,
    find_compaction,
    keep_restore,
    keep_summary,
    restores_of,
)
from unified_state.archive.session_work import add_notes, change_work, open_notes, read_work
from unified_state.archive.sessions import touch_session
from unified_state.archive.text_columns import (
    TEXT_COLUMNS,
    FreeText,
    TextColumns,
    forget_free_text,
    forget_session_texts,
    forget_texts,
    free_texts,
    replace_free_text,
)
from unified_state.lib.times import to_text
from unified_state.model.history_records import COMPACTION, ITEM, STEP
from unified_state.model.history_records import SESSION as OF_SESSION
from unified_state.upkeep.history.archive_rows import carry

MARKER = "Marker7391"
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
    "git in /a": git_of,
}


@pytest.fixture
def archive(archive: Archive) -> Archive:
    """An archive with a text of each kind."""
    session = touch_session(archive, SESSION, NOW)
    compaction = begin_compaction(archive, session, NOW)
    keep_summary(archive, compaction, LONG)
    restore = Restore(nonce="abc", session=session, compaction=1, part="brief", at=NOW, delivered_at=None, text=LONG)
    keep_restore(archive, restore)
    add_notes(archive, session, "highlight", ["half \ud83d"], "t")
    change_work(archive, session, {"branch": "main"})
    carry(archive, "step", 12, {"masked_at": 1})
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
        "git in /a": '{"branch":"main"}',
    }


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
        ("git in /a", "{}"),
    ],
)
def test_what_is_forgotten_is_gone_and_the_others_stay(archive: Archive, name: str, left: object) -> None:
    before = {other: read(archive) for other, read in READ.items()}
    forget_free_text(archive, found(archive, name))
    assert {other: read(archive) for other, read in READ.items()} == {**before, name: left}


# Columns without text of the user: our own words, ids, hashes, times, and the names of branches, tools and paths.
_NO_TEXT = {
    "carried": "what key",
    "compaction": "trigger boundary_uuid",
    "context": "reached line",
    "continuation": "parent",
    "counter": "letter",
    "enforcement": "stamp",
    "failing": "item",
    "item": "uuid alias kind status origin created_at changed_at session_id source_uuid commit_id superseded_by "
    "paged_out_at rule capture_key",
    "item_alias": "alias uuid",
    "item_link": "from_uuid to_uuid relation at",
    "meta": "name value",
    "news": "item session_id",
    "note": "kind at done_at state",
    "outbox": "what key",
    "migration": "name",
    "outbox_server": "name error",
    "restore": "nonce part",
    "saved": "state_path at trigger",
    "session": "session_id worktree branch predecessor root",
    "shortened": "agent tool_use_id",
    "sqlite_sequence": "name seq",
    "step": "uuid",
    "survival": "judged restored",
    "tombstone": "what key",
    "transcript": "path agent",
    "turn": "agent",
    "uncaptured": "capture_key",
    "vector_model": "name version",
}


def text_columns(archive: Archive) -> set[tuple[str, str]]:
    """Every column that may hold text, but for the index, which `forget_step` and `replace_text` write."""
    return set(
        archive.rows(
            "SELECT tables.name, columns.name FROM (SELECT name FROM sqlite_schema WHERE type = 'table' "
            "AND name NOT GLOB 'step_words*') AS tables "
            "JOIN pragma_table_info(tables.name) AS columns "
            "WHERE columns.type IN ('TEXT', 'BLOB', '')"
        )
    )


def test_every_column_is_entered_with_text_or_without(archive: Archive) -> None:
    with_text = {(texts.table, column) for texts in TEXT_COLUMNS for column in texts.columns}
    without = {(table, column) for table, columns in _NO_TEXT.items() for column in columns.split()}
    assert text_columns(archive) - without == with_text
    assert text_columns(archive) - with_text == without


KEYS: dict[str, int | str] = {STEP: 1, ITEM: "u1", COMPACTION: 1, OF_SESSION: 1}


def fill(archive: Archive, texts: TextColumns, what: str) -> None:
    """Write a marker into the columns of the row that belongs to the first step, item, compaction or session."""
    rows: dict[str, dict[str, object]] = {
        "step": {"id": 1, "turn": 1, "uuid": "e", "block": 0, "kind": 1, "at": NOW},
        "item": {"uuid": "u1", "alias": "D1", "kind": "decision", "status": "active", "origin": "o", "created_at": "t"},
        "vector": {"step": 1, "model": 1},
        "access": {"step": 1, "level": 1.0},
        "compaction": {"id": 1, "session": 1, "started_at": NOW},
        "note": {"session": 1, "kind": "action", "at": to_text(NOW)},
        "session": {"id": 1, "session_id": SESSION},
        "restore": {"nonce": "n", "session": 1, "part": "brief", "at": NOW},
        "carried": {"what": what, "key": KEYS[what]},
        "failing": {"item": "u1", "at": NOW},
        "item_link": {"from_uuid": "u1", "to_uuid": "u2", "relation": "supersedes", "at": "t"},
        "item_alias": {"alias": "D2", "uuid": "u1"},
    }
    row = {**rows[texts.table], **dict.fromkeys(texts.columns, MARKER)}
    for table in ("turn", "session", texts.table):
        archive.run(f"DELETE FROM {table}")
    archive.run("INSERT INTO turn VALUES (1, 1, NULL, 0)")
    names = ", ".join(row)
    archive.run(f"INSERT INTO {texts.table} ({names}) VALUES ({', '.join('?' * len(row))})", *row.values())


OWNED = [(texts, what) for texts in TEXT_COLUMNS for what in texts.owners]


@pytest.mark.parametrize(("texts", "what"), OWNED, ids=[f"{texts.table} of {what}" for texts, what in OWNED])
def test_what_belongs_to_something_goes_with_it(archive: Archive, texts: TextColumns, what: str) -> None:
    fill(archive, texts, what)
    count = "SELECT count(*) FROM " + texts.table
    assert MARKER in "".join(archive.connection.iterdump()) or not texts.columns
    if what == OF_SESSION:
        forget_session_texts(archive, 1, NOW)
    else:
        forget_texts(archive, what, KEYS[what])
    assert MARKER not in "".join(archive.connection.iterdump())
    assert archive.row(count) == (1 if texts.left else 0,)


@pytest.mark.parametrize("table", ["note", "restore"])
def test_a_session_that_is_forgotten_keeps_what_it_said_since_then(archive: Archive, table: str) -> None:
    texts = next(texts for texts in TEXT_COLUMNS if texts.table == table)
    fill(archive, texts, OF_SESSION)
    forget_session_texts(archive, 1, NOW - 1)
    assert MARKER in "".join(archive.connection.iterdump())
