"""Store the steps of an append on a distributed server (Citus): arrays in place of a temporary table.

Citus would bring a statement with a temporary table, or with several changes, to the coordinator. So each statement
here makes one change, and takes the project from a row of the same shard: then it runs there as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from unified_state.team.postgres.connections import Asker
from unified_state.team.postgres.postgres_values import STEP_COLUMNS
from unified_state.team.postgres.step_words import WORDS

if TYPE_CHECKING:
    from psycopg import Connection

_COLUMNS = {
    "ordinal": "bigint",
    "session": "bigint",
    **{column.name: column.type for column in STEP_COLUMNS},
    "unknown": "text",
    "searched": "text",
}
_STEP = [name for name in _COLUMNS if name not in ("ordinal", "session", "searched")]


def _sent(*names: str) -> str:
    """Return the table of some columns of the incoming steps."""
    arrays = ", ".join(f"%({name})s::{_COLUMNS[name]}[]" for name in names)
    return f"unnest({arrays}) AS incoming ({', '.join(names)})"


# One row of the project's shard: what is inserted takes the project from it.
_ANCHOR = "unified_state.session AS anchor"
_HERE = "anchor.project = %(project)s AND anchor.author = %(author)s AND anchor.session_id = %(anchor)s"
_SESSIONS = """
SELECT session_id, number FROM unified_state.session
WHERE project = %(project)s AND author = %(author)s AND session_id = ANY(%(names)s)
"""
_INSERT = f"""
INSERT INTO unified_state.step (project, author, number, session, {", ".join(_STEP)})
SELECT anchor.project, %(author)s::integer, %(last)s::bigint + ordinal, session, {", ".join(_STEP)}
FROM {_ANCHOR}, {_sent("ordinal", "session", *_STEP)}
WHERE {_HERE}
ORDER BY ordinal
ON CONFLICT (project, author, uuid, block) DO NOTHING
RETURNING number
"""
_INDEX = f"""
INSERT INTO unified_state.step_words (project, author, number, words)
SELECT anchor.project, %(author)s::integer, %(last)s::bigint + ordinal,
    {WORDS.format(searched="searched", number="%(last)s::bigint + ordinal")}
FROM {_ANCHOR}, {_sent("ordinal", "searched")}
WHERE {_HERE}
"""
_MARK_COPIES = f"""
INSERT INTO unified_state.step_copy (project, author, session, number, step)
SELECT step.project, %(author)s::integer, incoming.session, %(last)s::bigint + ordinal, step.number
FROM {_sent("ordinal", "session", "uuid", "block")}
JOIN unified_state.step ON step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block AND step.session <> incoming.session
ORDER BY ordinal
ON CONFLICT (project, session, step, author) DO NOTHING
"""


class SentSteps:
    """The steps of an append, as arrays of their values."""

    def __init__(self, connection: Connection[Any], asker: Asker) -> None:
        self._connection, self._asker = connection, asker
        self._rows: list[Sequence[Any]] = []
        self._anchor = ""

    @contextmanager
    def receiving(self) -> Iterator[Callable[[Sequence[Any]], None]]:
        """Yield the function that takes the values of a step."""
        yield self._rows.append

    def leave_out(self, gone: set[int]) -> None:
        """Remove forgotten steps, by their ordinals."""
        self._rows = [row for row in self._rows if row[0] not in gone]

    def insert(self, last: int) -> int:
        """Store the steps with the numbers after `last`, and their words. Return how many are new."""
        names = list({session for _, session, *_ in self._rows})
        self._anchor = names[0] if names else ""
        numbers = dict(self._connection.execute(_SESSIONS, self._asker.given(names=names)).fetchall())
        self._rows = [(ordinal, numbers[session], *values) for ordinal, session, *values in self._rows]
        added = {number - last for (number,) in self._execute(_INSERT, self._rows, last).fetchall()}
        words = [row for row in self._rows if row[0] in added and row[-1]]
        if words:
            self._execute(_INDEX, words, last)
        self._rows = [row for row in self._rows if row[0] not in added]
        return len(added)

    def mark_copies(self, last: int) -> int:
        """Note the steps of which another session is known to have the same. Return how many are new."""
        return int(self._execute(_MARK_COPIES, self._rows, last).rowcount)

    def _execute(self, sql: str, rows: list[Sequence[Any]], last: int) -> Any:
        columns = zip(*rows, strict=True) if rows else ((),) * len(_COLUMNS)
        values = {name: list(column) for name, column in zip(_COLUMNS, columns, strict=True)}
        return self._connection.execute(sql, self._asker.given(last=last, anchor=self._anchor, **values))
