"""Search: the steps and items that match a query best, by BM25 over the full text."""

from __future__ import annotations

from unified_state.records.record import Record
from unified_state.rules.cutting import one_line
from unified_state.rules.querying import fts_query, query_words, snippet
from unified_state.rules.timestamps import to_text
from unified_state.storage.ledger import list_items
from unified_state.storage.sessions import session_number
from unified_state.storage.steps import find_step, searchable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.records.item import LedgerItem
    from unified_state.storage.archive import Archive

_SNIPPET = 240


class Hit(Record):
    """One thing found. `uuids` are the transcript entries it covers, `score` is higher for better ones."""

    ref: str
    kind: str
    uuids: tuple[str, ...]
    session_id: str | None
    timestamp: str
    score: float
    snippet: str
    status: str | None = None


def search(archive: Archive, query: str, limit: int, session_id: str | None = None) -> list[Hit]:
    """The best hits, best first. Any text is a query; its words are looked for, never read as operators."""
    words = query_words(query)
    if not words or limit < 1:
        return []
    hits = [*_items(archive, words, session_id), *_steps(archive, words, limit, session_id)]
    return sorted(hits, key=lambda hit: -hit.score)[:limit]


def _steps(archive: Archive, words: list[str], limit: int, session_id: str | None) -> list[Hit]:
    condition, values = "", []
    if session_id is not None:
        number = session_number(archive, session_id)
        condition = (
            "AND step_text.rowid IN (SELECT step.id FROM turn JOIN step ON step.turn = turn.id WHERE turn.session = ?2 "
            "UNION SELECT step FROM step_copy WHERE session = ?2) "
        )
        values.append(number)
    rows = archive.rows(
        f"SELECT rowid, -bm25(step_text) FROM step_text WHERE step_text MATCH ?1 {condition}"  # noqa: S608  # ours
        f"ORDER BY bm25(step_text) LIMIT {int(limit)}",
        fts_query(words),
        *values,
    )
    return [hit for number, score in rows if (hit := _step_hit(archive, number, score, words)) is not None]


def _step_hit(archive: Archive, number: int, score: float, words: list[str]) -> Hit | None:
    step = find_step(archive, number)
    if step is None:
        return None
    (session_id,) = archive.row(
        "SELECT session_id FROM step JOIN turn ON turn.id = turn JOIN session ON session.id = session "
        "WHERE step.id = ?",
        number,
    )
    return Hit(
        ref=f"S{number}",
        kind=step.kind,
        uuids=(step.uuid,),
        session_id=session_id,
        timestamp=to_text(step.at),
        score=round(score, 3),
        snippet=snippet(one_line(searchable(step)), words, _SNIPPET),
    )


def _items(archive: Archive, words: list[str], session_id: str | None) -> list[Hit]:
    """Items are few, so they are looked through; one that has all words stands above any step."""
    hits = []
    for item in list_items(archive):
        if session_id is not None and item.session_id != session_id:
            continue
        text = _item_text(item)
        folded = text.lower()
        matched = sum(word in folded for word in words)
        if matched and matched * 2 >= len(words):
            hits.append(
                Hit(
                    ref=item.alias,
                    kind=item.kind,
                    uuids=(item.source_uuid,) if item.source_uuid else (),
                    session_id=item.session_id,
                    timestamp=item.created_at,
                    score=round(100 * matched / len(words), 3),
                    snippet=snippet(one_line(text), words, _SNIPPET),
                    status=item.status,
                )
            )
    return hits


def _item_text(item: LedgerItem) -> str:
    values: list[Any] = list(item.body.values())
    return " ".join(value for value in values if isinstance(value, str))
