"""A project's records on the server, as one member sees them: his own and those of his colleagues.

What is sent again changes nothing. What its author forgot stays forgotten, whichever of his archives sends it later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from unified_state.errors import StorageError
from unified_state.extras.team.postgres.connect import check_version, failures, open_connection
from unified_state.extras.team.postgres.schema import CHANGED, LARGEST_BODY
from unified_state.extras.team.postgres.server_dsn import Server
from unified_state.extras.team.rows import (
    ABOUT,
    COPY,
    FOR_GOOD,
    GONE,
    LINK,
    MARK,
    OutgoingRecord,
    Row,
    from_body,
    id_of,
    to_rows,
    vector_text,
)
from unified_state.lib.record import Record
from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    HistoryRecord,
    StoredStep,
    Tombstone,
)

_SAMPLE = 1_000  # newest records of a project in which words are counted
_ENTER = """
SELECT identity::text, member, writes, (SELECT typnamespace::regnamespace::text FROM pg_attribute
    JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = 'unified_state.record'::regclass AND attname = 'embedding'),
    (SELECT id FROM unified_state.project
    WHERE organisation = %(organisation)s AND (name = %(name)s OR %(name)s = ANY (former))
    ORDER BY name = %(name)s DESC LIMIT 1)
FROM unified_state.server LEFT JOIN unified_state.membership ON organisation = %(organisation)s AND login = current_user
"""
_BEGIN = "SELECT unified_state.begin_project(%(organisation)s, %(name)s)"
_READERS = """
SELECT member FROM unified_state.membership
WHERE organisation = %(of)s AND login IS NOT NULL AND (projects IS NULL OR %(name)s = ANY (projects)) ORDER BY member
"""
_OWN = "project = %(project)s AND author = %(author)s"
_APPEND = f"""
INSERT INTO unified_state.record AS known (project, author, id, {{columns}})
SELECT %(project)s, %(author)s, sent.id, {{values}}
FROM unnest(%(id)s::uuid[], %(kind)s::text[], %(at)s::bigint[], %(version)s::bigint[], %(ref)s::text[],
    %(part_of)s::uuid[], %(body)s::text[], %(words)s::text[], %(embedding)s::text[], %(model)s::text[])
    AS sent (id, kind, at, version, ref, part_of, body, words, embedding, model)
WHERE NOT EXISTS (SELECT FROM unified_state.record AS gone WHERE gone.{_OWN.replace(" author", " gone.author")}
    AND gone.id = sent.part_of AND gone.kind = '{GONE}' AND gone.version = {FOR_GOOD} AND sent.at <= gone.at)
ORDER BY sent.id
ON CONFLICT (project, author, id) DO UPDATE SET {{changes}}
WHERE excluded.version > known.version OR (excluded.version = known.version AND excluded.archive = known.archive
    AND ({{compared}}) IS DISTINCT FROM ({{known}}))
RETURNING id
"""
_VALUES = {
    **{name: name for name in CHANGED},
    "archive": "%(archive)s",
    "words": "array_to_tsvector(string_to_array(words || ' @' || %(project)s, ' '))",
}
_MARK = f"SELECT version FROM unified_state.record WHERE {_OWN} AND id = %(of)s AND kind = '{MARK}'"
_EMPTIED = f"kind = '{GONE}', ref = NULL, body = '', words = NULL{{vectors}}"
_FORGET_PARTS = f"""
UPDATE unified_state.record SET {_EMPTIED}, version = {FOR_GOOD}, at = {FOR_GOOD}
WHERE {_OWN} AND part_of = %(of)s AND at <= %(until)s
"""
_DELETE_OWN = f"UPDATE unified_state.record SET {_EMPTIED}, part_of = NULL, version = -1 WHERE {_OWN} AND version >= 0"
_COUNT_WORDS = f"""
WITH newest AS MATERIALIZED (SELECT words FROM unified_state.record
    WHERE project = %(project)s AND words IS NOT NULL ORDER BY at DESC LIMIT {_SAMPLE})
SELECT (SELECT count(*) FROM newest), ARRAY(SELECT (SELECT count(*) FROM newest WHERE words @@ part)
    FROM unnest(%(parts)s::tsquery[]) WITH ORDINALITY AS q (part, place) ORDER BY place)
"""
_CANDIDATES = """
SELECT author, id, size FROM unified_state.candidates(
    %(project)s, %(wanted)s::tsquery, %(parts)s::tsquery[], %(weights)s, %(since)s, %(many)s)
"""
_READ = """
SELECT author, id, kind, archive, ref, body, (SELECT count(*) > 1 FROM unified_state.record AS mark
    WHERE mark.project = %(project)s AND mark.author = record.author AND mark.ref = '{mark}'), {cosine}
FROM unified_state.record WHERE project = %(project)s AND {where}
"""
_FETCHED = "(author, id) IN (SELECT * FROM unnest(%(authors)s::text[], %(ids)s::uuid[]))"
_CALLED = """
(author, ref) IN (SELECT * FROM unnest(%(authors)s::text[], %(refs)s::text[])) AND octet_length(body) < %(most)s
ORDER BY at DESC
"""
# Of a step that was archived before its call the number is lower, and the time is not.
_OWN_RECORDS = f"""
SELECT body FROM unified_state.record WHERE {_OWN} AND kind = %(kind)s AND body <> ''
ORDER BY at, length(coalesce(ref, '')), ref, id
"""
_TEXT_OF = f"SELECT body FROM unified_state.record WHERE {_OWN} AND id = %(of)s AND kind = '{STEP}'"

# The index is of all projects. If another one's vectors lie in between, the newest ones here are compared without it.
_NEAREST = """
WITH near AS MATERIALIZED (
    SELECT author, id, octet_length(body) AS size, embedding OPERATOR({schema}.<=>) %(vector)s::{schema}.vector AS far
    FROM unified_state.record WHERE project = %(project)s AND model = %(model)s ORDER BY far LIMIT %(many)s)
SELECT author, id, size FROM (SELECT * FROM near UNION
    SELECT author, id, octet_length(body), embedding OPERATOR({schema}.<=>) %(vector)s::{schema}.vector
    FROM (SELECT * FROM unified_state.record WHERE project = %(project)s AND words IS NOT NULL
        ORDER BY at DESC LIMIT 20000) AS newest
    WHERE model = %(model)s AND (SELECT count(*) FROM near) < %(many)s) AS found
ORDER BY far LIMIT %(many)s
"""
_COSINE = (
    "CASE WHEN model = %(model)s THEN 1 - (embedding OPERATOR({schema}.<=>) %(vector)s::{schema}.vector) END AS cosine"
)
Meaning = tuple[str, Sequence[float]]  # a model and a vector of it


class ServerRow(Record):
    """A row of the server as it was found: whose it is, from which of his archives, what it is called there, whether he
    sends from several, and how near it is to what was meant.
    """

    author: str
    id: UUID
    kind: str
    archive: str
    ref: str | None
    body: str
    is_of_several: bool = False
    cosine: float | None = None


class TeamStore(AbstractContextManager["TeamStore"]):
    """An open project. `identity` is the server's own under every address, and `member` the user's name there.
    `vectors_in` is the schema of pgvector, "" where the server has none.
    """

    def __init__(self, server: Server, organisation: str, project: str, *, begins: bool = False) -> None:
        self.server, self.organisation, self.project = server, organisation, project
        with failures(server):
            self._connection = open_connection(server)
            try:
                self._enter(begins=begins)
            except BaseException:
                self.close()
                raise

    def _enter(self, *, begins: bool) -> None:
        check_version(self._connection, self.server)
        given = {"organisation": self.organisation, "name": self.project}
        told = self._connection.execute(_ENTER, given).fetchone()
        identity, member, writes, schema, number = told or ("", None, False, None, None)
        self.identity, self.vectors_in = str(identity), schema or ""
        self._no_vectors = ", embedding = NULL, model = NULL" if schema else ""
        if member is None:
            message = f"{self.server}: {self._connection.info.user!r} is no member of {self.organisation!r}"
            raise StorageError(message, "an administrator runs `unified-state server admit`")
        self.member: str = member
        if begins and writes and number is None:
            (number,) = self._connection.execute(_BEGIN, given).fetchone() or (None,)
        if begins and not (number and writes):
            message = f"{self.server}: {member!r} may not write to {self.project!r}"
            raise StorageError(message, "an administrator runs `unified-state server admit`")
        self._place = {"project": number or 0, "author": member}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __exit__(self, *_error: object) -> None:
        self.close()

    def rows(self, sql: str, **values: Any) -> list[Any]:
        """Return the rows of a query in this project, as this member."""
        with failures(self.server):
            return self._connection.execute(sql, {**self._place, **values}).fetchall()

    def mark(self, archive: str) -> int:
        """Return how many batches of an archive are here."""
        rows = self.rows(_MARK, of=id_of(MARK, archive))
        return int(rows[0][0]) if rows else 0

    def append(self, batch: list[OutgoingRecord], archive: str, mark: int) -> int:
        """Store records and the mark of their archive, all or none. Return how many are new or changed."""
        rows = [*to_rows(batch), Row(id_of(MARK, archive), MARK, 0, mark, MARK)]
        columns = {name: [getattr(row, name) for row in rows] for name in Row.names}
        ends = [sent.record for sent in batch if isinstance(sent.record, Tombstone) and sent.record.what == SESSION]
        with failures(self.server), self._connection.transaction():
            changed = self.rows(self._appending(), **columns, archive=archive)
            for end in ends:
                given = {**self._place, "of": id_of(SESSION, end.key), "until": end.at}
                self._connection.execute(_FORGET_PARTS.format(vectors=self._no_vectors), given)
        return len(changed) - 1

    def _appending(self) -> str:
        """Return the statement that stores a batch, with its vectors where the server keeps some."""
        vectors = {"embedding": f"embedding::{self.vectors_in}.vector", "model": "model"} if self.vectors_in else {}
        values = {**_VALUES, **vectors}
        compared = ("body", "ref", "model") if self.vectors_in else ("body", "ref")
        return _APPEND.format(
            columns=", ".join(values),
            values=", ".join(values.values()),
            changes=", ".join(f"{name} = excluded.{name}" for name in values),
            compared=", ".join(f"excluded.{name}" for name in compared),
            known=", ".join(f"known.{name}" for name in compared),
        )

    def delete_own(self) -> int:
        """Empty everything that this member has here. Return the number of rows. A later sync sends all again."""
        with failures(self.server):
            return self._connection.execute(_DELETE_OWN.format(vectors=self._no_vectors), self._place).rowcount

    def own_records(self) -> Iterator[HistoryRecord]:
        """Yield everything that this member has here, in an order in which an archive can take it in."""
        with failures(self.server), self._connection.transaction():
            for kind in (ABOUT, STEP, COPY, COMPACTION, ITEM, LINK, GONE):
                with self._connection.cursor("own") as page:
                    for (body,) in page.execute(_OWN_RECORDS, {**self._place, "kind": kind}):
                        record = from_body(body, Record)
                        yield from self._whole(record) if kind == COPY else (record,)

    def _whole(self, copy: StoredStep) -> Iterator[StoredStep]:
        """Yield a copy of a step with the text, which is stored once, unless the step was forgotten."""
        for (body,) in self.rows(_TEXT_OF, of=id_of(STEP, f"{copy.uuid}/{copy.block}")):
            yield copy.replace(text=from_body(body, StoredStep).text)

    def count_words(self, parts: Sequence[str]) -> tuple[int, list[int]]:
        """Return the number of the newest records, and how many of those match each expression."""
        ((count, having),) = self.rows(_COUNT_WORDS, parts=list(parts))
        return count, having

    def candidates(
        self, wanted: str, parts: dict[str, float], since: int | None, many: int
    ) -> list[tuple[str, UUID, int]]:
        """Return the author, the id and the size of the records that match an expression, the best by the weights of
        `parts` first.
        """
        return self.rows(_CANDIDATES, wanted=wanted, parts=[*parts], weights=[*parts.values()], since=since, many=many)

    def fetch(self, keys: Sequence[tuple[str, UUID]], meant: Meaning | None = None) -> list[ServerRow]:
        """Return the records of some keys: of each the author and the id."""
        given = {"authors": [author for author, _ in keys], "ids": [one for _, one in keys]}
        return self._read(_FETCHED, meant, **given)

    def called(
        self, refs: Sequence[tuple[str, str]], most: int = LARGEST_BODY, meant: Meaning | None = None
    ) -> list[ServerRow]:
        """Return the records with some refs, of each the author and his own ref, the newest first, none larger than
        `most`.
        """
        given = {"authors": [author for author, _ in refs], "refs": [ref for _, ref in refs], "most": most}
        return self._read(_CALLED, meant, **given)

    def _read(self, where: str, meant: Meaning | None, **given: Any) -> list[ServerRow]:
        cosine = "NULL"
        if meant is not None and self.vectors_in:
            cosine = _COSINE.format(schema=self.vectors_in)
            given |= {"model": meant[0], "vector": vector_text(meant[1])}
        return [ServerRow(*row) for row in self.rows(_READ.format(mark=MARK, cosine=cosine, where=where), **given)]

    def nearest(self, model: str, vector: Sequence[float], many: int) -> list[tuple[str, UUID, int]]:
        """Return the author, the id and the size of the steps nearest to a vector, the nearest first."""
        return self.rows(_NEAREST.format(schema=self.vectors_in), model=model, vector=vector_text(vector), many=many)


def readers(store: TeamStore) -> list[str]:
    """Return the names of the members who read a project."""
    return [name for (name,) in store.rows(_READERS, of=store.organisation, name=store.project)]
