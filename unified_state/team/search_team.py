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
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.memory.archive.steps import readable, uuid_key
from unified_state.memory.history.store_protocol import SharesItems
from unified_state.model.history_records import HistoryQuery
from unified_state.model.step import KINDS
from unified_state.search.find import filters_of, query_reader
from unified_state.team.rules.foreign_items import DISMISSED, as_foreign, item_ref, item_text, step_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.history_records import HistoryHit, ItemHit
    from unified_state.search.find import Wanted
    from unified_state.search.query_meaning import Reader
    from unified_state.team.sync_server import Server

    T = TypeVar("T")

_SECONDS = 5.0
_MORE = 4  # factor on the number of hits, because the user's own are among them
_REGION, _SNIPPET = 3_000, 240  # characters


class TeamHit(Record):
    """A step that another member archived, or an item that they recorded: its author, time and entry.

    `ref` names it for `recall`. `text` is the part around the words of the query. `status` is that of an item. Scores
    are comparable only within one answer.
    """

    said_by: str | None
    kind: str
    uuids: tuple[str, ...]
    session_id: str | None
    timestamp: str
    score: float
    snippet: str
    text: str
    ref: str = ""
    status: str | None = None


def find_in_team(
    workspace: Workspace, server: Server, wanted: Wanted, now: int, seconds: float = _SECONDS
) -> list[TeamHit]:
    """Return the best hits on the server that this archive does not have, or no longer has: steps and items.

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
    steps, items = within(seconds, lambda: _search(server, query))
    steps = _naming(steps, wanted.file)
    items = [hit for hit in items if _is_wanted(hit, wanted, filters.since)]
    if has_archive:
        steps, items = workspace.use(lambda archive: (_unknown(archive, steps), _unknown_items(archive, items)))
    words = query_words(wanted.query)
    best = max((hit.score for hit in steps), default=0) or 1
    hits = [_item_hit(hit, words) for hit in items] + [_hit(hit, hit.score / best, words) for hit in steps]
    return sorted(hits, key=lambda hit: -hit.score)[: wanted.limit]


def _with_meaning(query: HistoryQuery, reader: Reader | None) -> HistoryQuery:
    """Return the query with its vector, if it has one."""
    vector = reader.vector(query.text) if reader is not None else None
    return query if vector is None else query.replace(model=vector[0], vector=vector[1])


def _search(server: Server, query: HistoryQuery) -> tuple[list[HistoryHit], list[ItemHit]]:
    """Return the steps and the items that match. A filter that only steps pass leaves out items."""
    with server.open() as store:
        steps = store.search(query)
        if not isinstance(store, SharesItems) or query.tool is not None or query.kind in KINDS:
            return steps, []
        return steps, store.team.search(query.text, query.limit)


def _is_wanted(hit: ItemHit, wanted: Wanted, since: int | None) -> bool:
    """Return whether an item passes the filters."""
    item = hit.item
    return (
        item.status != DISMISSED
        and wanted.kind in {None, item.kind}
        and wanted.session_id in {None, item.session_id}
        and (since is None or (to_milliseconds(item.created_at) or 0) >= since)
        and (wanted.file is None or any(names_file(text, wanted.file) for text in (*item.files, item_text(item))))
    )


def _unknown_items(archive: Archive, hits: list[ItemHit]) -> list[ItemHit]:
    known = "SELECT 1 FROM item WHERE uuid = ?"
    return [hit for hit in hits if archive.row(known, hit.item.uuid) is None]


def _naming(hits: list[HistoryHit], file: str | None) -> list[HistoryHit]:
    return hits if file is None else [hit for hit in hits if names_file(readable(hit.step), file)]


def _unknown(archive: Archive, hits: list[HistoryHit]) -> list[HistoryHit]:
    known = "SELECT 1 FROM step WHERE uuid = ? AND block = ? AND id NOT IN (SELECT step FROM pruned)"
    return [hit for hit in hits if archive.row(known, uuid_key(hit.step.uuid), hit.step.block) is None]


def _hit(hit: HistoryHit, score: float, words: list[str]) -> TeamHit:
    step = hit.step
    text = region(readable(step), words, _REGION)
    return TeamHit(
        said_by=hit.said_by,
        kind=step.kind,
        uuids=(step.uuid,),
        session_id=step.session_id,
        timestamp=to_text(step.at),
        score=round(score, 4),
        snippet=snippet(one_line(text), words, _SNIPPET),
        text=text,
        ref=step_ref(hit.number),
    )


def _item_hit(hit: ItemHit, words: list[str]) -> TeamHit:
    item, text = hit.item, region(item_text(hit.item), words, _REGION)
    return TeamHit(
        said_by=hit.said_by,
        kind=item.kind,
        uuids=(item.uuid,),
        session_id=item.session_id,
        timestamp=item.created_at,
        score=round(hit.score, 4),
        snippet=snippet(one_line(text), words, _SNIPPET),
        text=text,
        ref=item_ref(hit),
        status=as_foreign(item).status,
    )


def within(seconds: float, action: Callable[[], T]) -> T:
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
