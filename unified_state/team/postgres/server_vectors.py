"""Vectors of steps on the server: taken in by COPY, each once for its model."""

from __future__ import annotations

from unified_state.team.postgres.postgres_values import short_name, to_key, to_number, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from psycopg import Connection

    Transaction = Callable[[], AbstractContextManager[tuple[Connection[Any], Any]]]
    from unified_state.team.postgres.connections import Asker

_INCOMING = """
CREATE TEMPORARY TABLE IF NOT EXISTS unified_state_vectors (
    uuid bytea, block bigint, dimensions integer, embedding text
) ON COMMIT DELETE ROWS
"""
_INSERT = """
INSERT INTO unified_state.step_vector (project, author, number, model, dimensions, embedding)
SELECT step.project, step.author, step.number, %(model)s, dimensions, embedding::{schema}.halfvec
FROM pg_temp.unified_state_vectors AS incoming
JOIN unified_state.step ON step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block
ON CONFLICT (project, number, model, author) DO NOTHING
"""
_TAKE_OTHER_VERSIONS = """
DELETE FROM unified_state.step_vector AS other USING unified_state.step, pg_temp.unified_state_vectors AS incoming
WHERE step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block
    AND other.project = %(project)s AND other.author = %(author)s AND other.number = step.number
    AND other.model <> %(model)s AND %(name)s <> '' AND starts_with(other.model, %(name)s)
    AND strpos(substr(other.model, length(%(name)s) + 1), ' ') = 0
"""
_SCHEMA = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"


class Vectors:
    """The vectors of a store."""

    def __init__(self, transaction: Transaction, asker: Asker) -> None:
        self._transaction, self._asker = transaction, asker

    @property
    def can_be_kept(self) -> bool:
        """Whether the server has the extension `vector`, and its owner opened it since."""
        return self._asker.has_vectors

    def add(self, model: str, vectors: Iterable[tuple[str, int, Sequence[float]]]) -> int:
        """Keep vectors of the asker's own steps, each named by uuid and block, of a model, and no others of its other
        versions; how many are new. None is kept where none can be.
        """
        if not self.can_be_kept:
            return 0
        with self._transaction() as (connection, _):
            (schema,) = connection.execute(_SCHEMA).fetchone() or ("public",)
            connection.execute(_INCOMING)
            with connection.cursor().copy("COPY pg_temp.unified_state_vectors FROM STDIN") as copy:
                for uuid, block, vector in vectors:
                    copy.write_row((to_key(short_name(uuid)), to_number(block), len(vector), vector_text(vector)))
            self._asker.lock(connection)  # a step that is forgotten meanwhile takes its vectors with it
            name = "".join(model.rpartition(" ")[:2])
            given: dict[str, Any] = {"project": self._asker.project, "author": self._asker.author}
            given |= {"model": to_text(model), "name": to_text(name)}
            connection.execute(_TAKE_OTHER_VERSIONS, given)
            return connection.execute(_INSERT.format(schema=schema), given).rowcount


def vector_text(vector: Sequence[float]) -> str:
    """A vector as the server reads it."""
    return f"[{','.join(f'{number:.5g}' for number in vector)}]"
