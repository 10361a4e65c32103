"""Search the team's history on the server, in addition to the user's own archive.

A search has a timeout, so a slow server does not delay the hits of the archive. A hit of another member is recalled by
its ref on the server: an item, its source, a step.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from unified_state.errors import NotFoundError, StorageError
from unified_state.lib.query import names_file, query_words, region, snippet
from unified_state.lib.record import Record
from unified_state.lib.text import one_line, text_hash
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.export_steps import export_line
from unified_state.memory.archive.steps import readable, uuid_key
from unified_state.memory.history.store_protocol import ItemsOfTeam, SharesItems
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.history_records import HistoryHit, HistoryQuery, ItemHit, StepHit
from unified_state.model.item import ALIAS_LETTERS
from unified_state.model.step import KINDS
from unified_state.search.find import Wanted, filters_of, query_reader
from unified_state.team.rules.foreign_items import (
    DISMISSED,
    STEP,
    TRUST,
    as_foreign,
    item_ref,
    item_text,
    step_ref,
    team_ref,
)
from unified_state.team.sync_server import Server

if TYPE_CHECKING:
    from unified_state.search.query_meaning import Reader

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

    Records that cannot be read are reported by their number. Raises StorageError on a timeout.
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
    steps, items, skipped = within(seconds, lambda: _search(server, query))
    if skipped:
        workspace.report(_told_skipped(skipped))
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


def _told_skipped(count: int) -> str:
    records = "1 record of a colleague is" if count == 1 else f"{count:,} records of colleagues are"
    return f"{records} damaged on the team's server and not shown; all others were searched"


def _search(server: Server, query: HistoryQuery) -> tuple[list[HistoryHit], list[ItemHit], int]:
    """Return the steps and the items that match, and how many were damaged. A filter that only steps pass leaves out
    items.
    """
    with server.open() as store:
        steps = store.search(query)
        if not isinstance(store, SharesItems):
            return steps, [], 0
        is_of_steps = query.tool is not None or query.kind in KINDS
        items = [] if is_of_steps else store.team.search(query.text, query.limit)
        return steps, items, store.team.skipped


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


_HINT = "`unified-state search --team` finds refs; it may have been forgotten, or is not shared with you"


def recall_of_team(server: Server, ref: str) -> dict[str, Any]:
    """Return the content of a ref, in the form of `recall`, with the member who said it. Raises NotFoundError and
    StorageError.
    """

    def read(team: ItemsOfTeam, letter: str, number: int) -> dict[str, Any]:
        if letter == STEP:
            return _step(_found(team.find_step(number), ref))
        return _item(_item_called(team, letter, number, ref))

    return _ask(server, ref, read)


def explain_of_team(server: Server, ref: str) -> dict[str, Any]:
    """Return the provenance of an item, in the form of `explain`. Raises NotFoundError and StorageError."""

    def read(team: ItemsOfTeam, letter: str, number: int) -> dict[str, Any]:
        hit = _item_called(team, letter, number, ref)
        return _provenance(hit, team.find_source(hit))

    return _ask(server, ref, read)


def _ask(server: Server, ref: str, read: Any) -> dict[str, Any]:
    def ask() -> dict[str, Any]:
        letter, number = _found(team_ref(ref), ref)
        with server.open() as store:
            team = _found(store.team if isinstance(store, SharesItems) else None, ref)
            try:
                found: dict[str, Any] = read(team, letter, number)
            except NotFoundError:
                if team.skipped:
                    message = f"{ref} is damaged on the team's server"
                    raise StorageError(message, "ask who recorded it; all others can be read") from None
                raise
            return found

    return within(_SECONDS, ask)


def _item_called(team: ItemsOfTeam, letter: str, number: int, ref: str) -> ItemHit:
    hit: ItemHit = _found(team.find_item(number), ref)
    if ALIAS_LETTERS.get(hit.item.kind) != letter:
        raise _nothing(ref)
    return hit


def _found(value: Any, ref: str) -> Any:
    if value is None:
        raise _nothing(ref)
    return value


def _nothing(ref: str) -> NotFoundError:
    message = f"there is no {ref} on the team's server that you may read"
    return NotFoundError(message, _HINT)


def _step(hit: StepHit) -> dict[str, Any]:
    line = export_line(hit.number, hit.step, hit.step.session_id, hit.step.tool)
    return {**line, "ref": step_ref(hit.number), "said_by": hit.said_by, "trust": TRUST}


def _item(hit: ItemHit) -> dict[str, Any]:
    item = as_foreign(hit.item)
    return {
        "ref": item_ref(hit),
        "said_by": hit.said_by,
        "trust": TRUST,
        "kind": item.kind,
        "alias": item.alias,
        "body": item.body,
        "status": item.status,
        "origin": item.origin,
        "created_at": item.created_at,
        "session_id": item.session_id,
        "commit": item.commit,
        "branch": item.branch,
        "files": list(item.files),
        "quote": item.quote,
        "links": [],
    }


def _provenance(hit: ItemHit, source: list[StepHit]) -> dict[str, Any]:
    item, told = hit.item, _item(hit)
    step = next((one for one in source if item.quote and item.quote in readable(one.step)), next(iter(source), None))
    faults = []
    if item.quote is not None and text_hash(item.quote) != item.quote_hash:
        faults.append(f"its quote was changed: the SHA-256 is not {item.quote_hash}")
    elif item.quote is not None and source and not any(item.quote in readable(one.step) for one in source):
        faults.append("its quote is not in its source entry")
    return {
        **told,
        "uuid": item.uuid,
        "rule": item.rule,
        "compaction": None,
        "source_uuid": item.source_uuid,
        "quote_hash": item.quote_hash,
        "turn": None if step is None else {"ref": step_ref(step.number), "prompt": None, "step": _step(step)},
        "validity": {"valid": False, "text": "not checked here: its files and commits are another member's"},
        "faults": faults,
    }
