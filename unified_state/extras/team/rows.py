"""Records of history as rows of the server's one table, and back.

A row's id follows from the kind and the name of its record, so a record that is sent again changes nothing. A body is
JSON in ASCII, because PostgreSQL takes neither NUL nor half of an emoji. Everything that is read back is checked in
every field: a colleague can write what he likes into his rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from unified_state.archive.full_text import index_terms
from unified_state.archive.steps import DATA_URL, searchable
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import index_text, parts_of_names
from unified_state.lib.times import to_milliseconds
from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, QUESTION
from unified_state.upkeep.history.record_fields import to_object, to_record

COPY, LINK, MARK, GONE, ABOUT = "copy", "link", "mark", "gone", "about"
FOR_GOOD = 1 << 62
FOUND_KINDS = (DECISION, CONSTRAINT, QUESTION, ATTEMPT)
_REF = re.compile("[A-Z][0-9]{1,18}")
LONGEST_TERM, _MOST_BYTES = 500, 1_000_000  # the server takes 2,046 bytes a term, and a megabyte in all


class OutgoingRecord(Record):
    """A record to send. `ref` is the author's own. A copy is a step in another session than that which had it first.
    A step may have a vector, by a model.
    """

    record: HistoryRecord
    ref: str | None = None
    is_copy: bool = False
    model: str | None = None
    vector: tuple[float, ...] = ()


class Row(Record):
    """A row of the server, without project, author and archive. `words` are its terms, joined by spaces."""

    id: UUID
    kind: str
    at: int
    version: int = 0
    ref: str | None = None
    part_of: UUID | None = None
    body: str = ""
    words: str | None = None
    embedding: str | None = None
    model: str | None = None


def id_of(kind: str, name: str) -> UUID:
    """Return the id of the row of a record."""
    return UUID(bytes=sha256(f"{kind}:{name}".encode("utf-8", "surrogatepass")).digest()[:16])


def to_rows(batch: list[OutgoingRecord]) -> list[Row]:
    """Return the rows of some records, each id once: the newest version."""
    terms = index_terms([_indexed(sent) for sent in batch])
    rows: dict[UUID, Row] = {}
    for sent, words in zip(batch, terms, strict=True):
        row = _row(sent)
        row = row.replace(words=_joined(words, sent.record) if words else None, body=_body(sent))
        if sent.model is not None:
            row = row.replace(embedding=vector_text(sent.vector), model=sent.model)
        if row.id not in rows or rows[row.id].version <= row.version:
            rows[row.id] = row
    return list(rows.values())


def vector_text(vector: Sequence[float]) -> str:
    """Return a vector as pgvector reads it."""
    return f"[{','.join(f'{number:.5g}' for number in vector)}]"


def _row(sent: OutgoingRecord) -> Row:
    """Return the row of a record, without its body and its words."""
    match sent.record:
        case Tombstone() as stone:
            at = _time(stone.at) if stone.what == SESSION else FOR_GOOD
            row = Row(id_of(stone.what, stone.key), GONE, at, FOR_GOOD)
        case StoredSession() as session:
            times = (session.started_at, session.seen_at, session.ended_at)
            at = max(map(_time, times))
            row = Row(id_of(ABOUT, session.session_id), ABOUT, at, at)
        case StoredStep() as step:
            name = f"{step.uuid}/{step.block}"
            row = Row(id_of(STEP, name), STEP, _time(step.at), _time(step.masked_at), sent.ref)
            if sent.is_copy:
                row = Row(id_of(COPY, f"{name}/{step.session_id}"), COPY, row.at)
        case StoredCompaction() as found:
            version = _time(found.masked_at) * 2 + (found.summary is not None)
            row = Row(id_of(COMPACTION, found.boundary_uuid), COMPACTION, _time(found.at), version)
        case StoredLink() as link:
            name = f"{link.from_uuid}/{link.to_uuid}/{link.relation}"
            return Row(id_of(LINK, name), LINK, 0, part_of=id_of(ITEM, link.from_uuid))
        case StoredItem() as item:
            at, changed = (_time(to_milliseconds(time)) for time in (item.created_at, item.changed_at))
            row = Row(id_of(ITEM, item.uuid), ITEM, at, changed, item.alias)
    if isinstance(sent.record, StoredSession | StoredStep | StoredCompaction):
        return row.replace(part_of=id_of(SESSION, sent.record.session_id))
    return row


def _time(at: int | None) -> int:
    return min(max(at or 0, 0), FOR_GOOD // 4)


def _body(sent: OutgoingRecord) -> str:
    record = sent.record.replace(text="") if sent.is_copy and isinstance(sent.record, StoredStep) else sent.record
    return dump_ascii_json(to_object(record))


def _indexed(sent: OutgoingRecord) -> str:
    """Return what is searched of a record, as the local index has it."""
    record = sent.record
    if isinstance(record, StoredStep):
        return "" if sent.is_copy or record.text.startswith(DATA_URL) else searchable(record)
    text = item_text(record) if isinstance(record, StoredItem) and record.kind in FOUND_KINDS else ""
    return f"{index_text(text)} {parts_of_names(text)}"


def item_text(item: StoredItem) -> str:
    """Return the texts of an item, its main one first."""
    return "\n".join(value for value in item.body.values() if isinstance(value, str))


def _joined(words: list[str], record: HistoryRecord) -> str:
    filters = facets(record.kind if isinstance(record, StoredStep | StoredItem) else "", record)
    chosen, room = [], _MOST_BYTES
    for word in (*filters, *words):
        room -= len(word.encode())
        if room > 0 and len(word) <= LONGEST_TERM:
            chosen.append(word)
    return " ".join(chosen)


def facets(
    kind: str | None, record: object = None, *, tool: str | None = None, session: str | None = None
) -> list[str]:
    """Return the terms for what a search may filter by: no word of a text holds the sign with which they begin."""
    tool = record.tool if isinstance(record, StoredStep) else tool
    session = record.session_id if isinstance(record, StoredStep | StoredItem) else session
    found = [f"={kind}"] if kind else []
    found += [f"=tool-{sha256(tool.lower().encode('utf-8', 'replace')).hexdigest()[:12]}"] if tool else []
    return found + ([f"=session-{id_of(SESSION, session).hex[:12]}"] if session else [])


def from_body(body: str, kind: type[Record]) -> Any:
    """Return the record of a body. Raises ValueError for anything that is no record of that kind."""
    try:
        record = to_record(parse_json(body))
    except (TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(record, kind):
        message = f"a {type(record).__name__} is no {kind.__name__}"
        raise ValueError(message)  # noqa: TRY004  # callers catch one kind of error
    return record


def is_ref(ref: str | None) -> bool:
    """Return whether a text is a ref as archives give them."""
    return ref is not None and _REF.fullmatch(ref) is not None
