"""What other sessions did to the decisions and constraints of a repository since a session looked last."""

from __future__ import annotations

from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.memory.archive.archive import Archive

_BY_OTHERS = (
    "FROM session JOIN news ON news.id > session.news AND news.session_id IS NOT session.session_id "
    "WHERE session.id = ?"
)


class News(Record):
    """An item of which there is news, and whether it was in force when the session looked last."""

    uuid: str
    was_active: bool


def know_news(archive: Archive, session: int) -> None:
    """What there is up to now is none to the session any more. Call it in a transaction."""
    archive.run("UPDATE session SET news = (SELECT coalesce(max(id), 0) FROM news) WHERE id = ?", session)


def take_news(archive: Archive, session: int) -> list[News]:
    """What other sessions did since then, in order, each item once; whoever asks next is given none of it. Call it in a
    transaction.
    """
    rows = archive.rows(f"SELECT item, is_active {_BY_OTHERS} ORDER BY news.id", session)
    know_news(archive, session)
    first = dict(reversed(rows))
    return [News(uuid, was_active=not first[uuid]) for uuid in dict.fromkeys(uuid for uuid, _ in rows)]


def last_news(archive: Archive) -> int:
    """The number of the newest."""
    return int(archive.row("SELECT coalesce(max(id), 0) FROM news")[0])


def take_back_news(archive: Archive, after: int, items: Sequence[str]) -> None:
    """What came of some items since then is no news to anybody."""
    with archive.transaction():
        for uuid in items:
            archive.run("DELETE FROM news WHERE id > ? AND item = ?", after, uuid)
