"""Search the team's history on the server, in addition to the user's own archive.

The search has a timeout, so a slow server does not delay the hits of the archive.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from threading import Thread

from unified_state.errors import StorageError
from unified_state.lib.query import names_file, query_words, region, snippet
from unified_state.lib.record import Record
from unified_state.lib.text import one_line
from unified_state.lib.times import to_text
from unified_state.memory.archive.steps import readable, uuid_key
from unified_state.model.history_records import HistoryQuery
from unified_state.search.find import filters_of, query_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.history_records import HistoryHit
    from unified_state.search.find import Wanted
    from unified_state.search.query_meaning import Reader
    from unified_state.team.sync_server import Server

    T = TypeVar("T")

_SECONDS = 5.0
_MORE = 4  # factor on the number of hits, because the user's own are among them
_REGION, _SNIPPET = 3_000, 240  # characters


class TeamHit(Record):
    """A step that another member archived: its author, time and entry.

    `text` is the part around the words of the query. Scores are comparable only within one answer.
    """

    said_by: str | None
    kind: str
    uuids: tuple[str, ...]
    session_id: str
    timestamp: str
    score: float
    snippet: str
    text: str


def find_in_team(
    workspace: Workspace, server: Server, wanted: Wanted, now: int, seconds: float = _SECONDS
) -> list[TeamHit]:
    """Return the best hits on the server that this archive does not have, or no longer has.

    Raises StorageError on a timeout.
    """
    filters = filters_of(wanted, now)
    query = HistoryQuery(
        text=wanted.query,
        limit=wanted.limit * _MORE,
        session_id=wanted.session_id,
        kind=wanted.kind,
        tool=wanted.tool,
        since=filters.since,
    )
    has_archive = not workspace.is_empty
    query = _with_meaning(query, query_reader(workspace, is_told=has_archive))  # the local search already reported it
    if wanted.file is not None:  # the server only knows words
        query = query.replace(text=f"{query.text} {wanted.file}", limit=query.limit * _MORE)
    found = _naming(_within(seconds, lambda: _search(server, query)), wanted.file)
    others = workspace.use(lambda archive: _unknown(archive, found)) if has_archive else found
    words = query_words(wanted.query)
    return [_hit(hit, words) for hit in others[: wanted.limit]]


def _with_meaning(query: HistoryQuery, reader: Reader | None) -> HistoryQuery:
    """Return the query with its vector, if it has one."""
    vector = reader.vector(query.text) if reader is not None else None
    return query if vector is None else query.replace(model=vector[0], vector=vector[1])


def _search(server: Server, query: HistoryQuery) -> list[HistoryHit]:
    with server.open() as store:
        return store.search(query)


def _naming(hits: list[HistoryHit], file: str | None) -> list[HistoryHit]:
    return hits if file is None else [hit for hit in hits if names_file(readable(hit.step), file)]


def _unknown(archive: Archive, hits: list[HistoryHit]) -> list[HistoryHit]:
    known = "SELECT 1 FROM step WHERE uuid = ? AND block = ? AND id NOT IN (SELECT step FROM pruned)"
    return [hit for hit in hits if archive.row(known, uuid_key(hit.step.uuid), hit.step.block) is None]


def _hit(hit: HistoryHit, words: list[str]) -> TeamHit:
    step = hit.step
    text = region(readable(step), words, _REGION)
    return TeamHit(
        said_by=hit.said_by,
        kind=step.kind,
        uuids=(step.uuid,),
        session_id=step.session_id,
        timestamp=to_text(step.at),
        score=round(hit.score, 4),
        snippet=snippet(one_line(text), words, _SNIPPET),
        text=text,
    )


def _within(seconds: float, action: Callable[[], T]) -> T:
    """Return action(). Raises StorageError on a timeout. The thread then ends with the process."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # noqa: BLE001  # it is raised again, in the thread that waits
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    if not wait([future], seconds).done:
        message = f"the team's server did not answer within {seconds:g} seconds"
        raise StorageError(message, "what this archive has was found")
    return future.result()
