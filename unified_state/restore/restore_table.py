"""Reads of a restore: news of other sessions since a session's last read, the last save, the number of turns."""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import newest_session
from unified_state.lib.record import Record
from unified_state.lib.times import CLOCK_AHEAD

_BY_OTHERS = (
    "FROM session JOIN news ON news.id > session.news AND news.session_id IS NOT session.session_id "
    "WHERE session.id = ?"
)


class News(Record):
    """An item that another session changed, and whether it was active when this session last read the news."""

    uuid: str
    was_active: bool


def know_news(archive: Archive, session: int, until: int | None = None) -> None:
    """Mark all news up to a number, or up to now, as known to the session. Call it in a transaction."""
    newest = last_news(archive) if until is None else until
    archive.run("UPDATE session SET news = ? WHERE id = ?", newest, session)


def take_news(archive: Archive, session: int) -> list[News]:
    """Return the changes of other sessions since the last read, in order and each item once, and mark them as known.

    Call it in a transaction.
    """
    rows = archive.rows(f"SELECT item, is_active {_BY_OTHERS} ORDER BY news.id", session)
    know_news(archive, session)
    first = dict(reversed(rows))
    return [News(uuid, was_active=not first[uuid]) for uuid in dict.fromkeys(uuid for uuid, _ in rows)]


def last_news(archive: Archive) -> int:
    """Return the number of the newest news."""
    return int(archive.row("SELECT coalesce(max(id), 0) FROM news")[0])


def take_back_news(archive: Archive, after: int, items: Sequence[str]) -> None:
    """Delete the news of some items after a number, so that no session receives them."""
    with archive.transaction():
        for uuid in items:
            archive.run("DELETE FROM news WHERE id > ? AND item = ?", after, uuid)


def read_saved(archive: Archive, state_path: str) -> tuple[str, str] | None:
    """Return the time of a state file's last save and the git state then, as text, or None if it was never saved."""
    saved: tuple[str, str] | None = archive.row("SELECT at, git FROM saved WHERE state_path = ?", state_path)
    return saved


def count_turns(archive: Archive, now: int) -> tuple[int, int | None]:
    """Return the number of turns, and the time of the last one: of the newest session, which may have come before
    others.
    """
    count = archive.value("SELECT count(*) FROM turn")
    newest = "SELECT at FROM turn WHERE session = ? AND at BETWEEN 1 AND ? ORDER BY id DESC LIMIT 1"
    at = archive.value(newest, newest_session(archive, now), now + CLOCK_AHEAD)
    return (count, at) if count else (0, None)
