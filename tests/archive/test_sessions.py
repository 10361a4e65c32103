from __future__ import annotations

from tests.builders import HOUR, NOW
from unified_state.archive.archive import Archive
from unified_state.archive.session_work import (
    add_notes,
    change_work,
    close_notes,
    open_notes,
    read_work,
    working_sessions,
)
from unified_state.archive.sessions import (
    LOCAL_SESSION,
    Cursor,
    cleared_by,
    end_session,
    move_cursor,
    newest_session,
    recent_transcripts,
    session_id_of,
    session_number,
    touch_session,
)

AT = "2026-01-01T00:00:00.000Z"


def test_a_session_is_known_by_one_number(archive: Archive) -> None:
    number = touch_session(archive, "s", NOW)
    assert touch_session(archive, "s", NOW + 1) == number == session_number(archive, "s")
    assert touch_session(archive, "other", NOW) != number


def test_what_is_known_of_a_session_is_filled_in_and_stays(archive: Archive) -> None:
    touch_session(archive, "s", NOW, worktree="/w", pid=7)
    touch_session(archive, "s", NOW + 5, predecessor="p", worktree=None)
    row = archive.row("SELECT worktree, pid, predecessor, started_at, seen_at FROM session")
    assert row == ("/w", 7, "p", NOW, NOW + 5)


def test_a_clock_that_was_set_back_makes_no_session_older(archive: Archive) -> None:
    touch_session(archive, "s", NOW)
    touch_session(archive, "s", NOW - HOUR)
    assert archive.row("SELECT seen_at FROM session")[0] == NOW


def test_an_activity_that_is_still_to_come_is_not_believed(archive: Archive) -> None:
    touch_session(archive, "s", NOW + HOUR)
    touch_session(archive, "s", NOW - HOUR, now=NOW)
    assert archive.row("SELECT seen_at FROM session")[0] == NOW - HOUR


def test_the_newest_session_has_turns_and_a_time_that_has_come(archive: Archive) -> None:
    talks = {"old": NOW - HOUR, "before": NOW, "a clock that was ahead": NOW + HOUR}
    for session_id, at in {**talks, "silent": NOW + 1, LOCAL_SESSION: NOW + 2}.items():
        session = touch_session(archive, session_id, at)
        if session_id in talks:
            archive.run("INSERT INTO turn (session, at) VALUES (?, ?)", session, at)

    def newest(besides: str = "") -> str | None:
        return session_id_of(archive, newest_session(archive, NOW + 3, besides))

    assert [newest(), newest("before")] == ["before", "old"]
    archive.run("DELETE FROM turn WHERE session IN (SELECT id FROM session WHERE session_id IN ('old', 'before'))")
    assert newest() == "a clock that was ahead"
    archive.run("DELETE FROM turn")
    assert newest() == "silent"
    archive.run("DELETE FROM session WHERE session_id != ?", LOCAL_SESSION)
    assert newest() is None


def test_after_clear_the_session_before_is_that_of_the_same_process(archive: Archive) -> None:
    for session, pid, reason in (("a", 7, "clear"), ("b", 8, "clear"), ("c", 7, "exit")):
        end_session(archive, touch_session(archive, session, NOW, pid=pid), NOW, reason)
    assert cleared_by(archive, 7) == "a"
    assert cleared_by(archive, 9) is None
    assert cleared_by(archive, None) is None


def test_the_transcripts_of_the_sessions_alive_last_come_first(archive: Archive) -> None:
    for number, session in enumerate(("a", "b", "c")):
        cursor = Cursor(f"/{session}.jsonl", touch_session(archive, session, NOW + number), None, 0, None, None)
        move_cursor(archive, cursor)
    found = recent_transcripts(archive, 2)
    assert [(cursor.path, session) for cursor, session in found] == [("/c.jsonl", "c"), ("/b.jsonl", "b")]


def test_what_a_session_works_on_changes_field_by_field(archive: Archive) -> None:
    session = touch_session(archive, "s", NOW)
    assert read_work(archive, session) == {}
    change_work(archive, session, {"branch": "main", "workItem": {"id": "PROJ-1"}})
    change_work(archive, session, {"branch": "other"})
    assert read_work(archive, session) == {"branch": "other", "workItem": {"id": "PROJ-1"}}


def test_a_note_of_no_session_is_everybodys_and_another_sessions_is_not(archive: Archive) -> None:
    mine, other = touch_session(archive, "s", NOW), touch_session(archive, "t", NOW)
    add_notes(archive, None, "action", ["shared"], AT)
    add_notes(archive, other, "action", ["other"], AT)
    add_notes(archive, mine, "action", ["mine"], AT)
    assert open_notes(archive, mine, "action", 9) == ("shared", "mine")
    assert open_notes(archive, None, "action", 9) == ("shared",)


def test_notes_that_are_done_are_kept_but_not_shown(archive: Archive) -> None:
    session, other = touch_session(archive, "s", NOW), touch_session(archive, "t", NOW)
    for owner, text in ((session, "mine"), (None, "shared"), (other, "other")):
        add_notes(archive, owner, "action", [text], AT)
    close_notes(archive, session, "action", AT)
    assert open_notes(archive, session, "action", 9) == ()
    assert open_notes(archive, other, "action", 9) == ("other",)
    assert archive.row("SELECT count(*) FROM note")[0] == 3


def test_the_sessions_at_work_are_those_seen_lately_that_have_not_ended(archive: Archive) -> None:
    change_work(archive, touch_session(archive, "a", NOW, worktree="/w", pid=7), {"branch": "main"})
    touch_session(archive, "b", NOW + 1, worktree="/w")
    touch_session(archive, "old", NOW - 2 * HOUR, worktree="/w")
    touch_session(archive, "of a clock that was ahead", NOW + HOUR, worktree="/w")
    touch_session(archive, "elsewhere", NOW, worktree="/v")
    end_session(archive, touch_session(archive, "ended", NOW, worktree="/w"), NOW, "exit")
    found = working_sessions(archive, "/w", NOW - HOUR, NOW)
    assert [(session.session_id, session.pid, session.work) for session in found] == [
        ("b", None, {}),
        ("a", 7, {"branch": "main"}),
    ]
