"""Who asks: an organisation's member, of a project. The server is told at the beginning of each transaction."""

from __future__ import annotations

from psycopg.errors import InsufficientPrivilege

from unified_state.errors import StorageError
from unified_state.team.postgres.postgres_values import to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from unified_state.team.postgres.server_dsn import Server

_HAS_VECTORS = "SELECT to_regclass('unified_state.step_vector') IS NOT NULL"
_ASK = "SELECT unified_state.ask(%s, %s, %s)"
_TAKE = "SELECT unified_state.take_numbers(%s)"
_MOST = 1_000_000  # numbers that the server gives at a time


class Asker:
    """A member at work in a project: the server's numbers for both."""

    def __init__(self, organisation: str, project: str, member: str) -> None:
        self._names = [to_text(organisation), to_text(project), to_text(member)]
        self.organisation, self.member = organisation, member
        self.project = self.author = 0
        self.has_vectors = False
        self._place = ""

    def enter(self, connection: Connection[Any], server: Server) -> None:
        """Take one's place, and make it where it is new and that is allowed. Raises StorageError."""
        self._place = str(server)
        with connection.transaction():
            self.ask(connection)
            row = connection.execute("SELECT unified_state.project(), unified_state.author()").fetchone()
            if row is None or None in row:
                row = self._make_place(connection, server)
            self.project, self.author = row
            (self.has_vectors,) = connection.execute(_HAS_VECTORS).fetchone() or (False,)

    def _make_place(self, connection: Connection[Any], server: Server) -> tuple[int, int]:
        try:
            connection.execute("SELECT unified_state.enter()")
        except InsufficientPrivilege:
            message = f"{server}: {self.member!r} is no member of {self.organisation!r}, or another role's"
            raise StorageError(message, "an administrator admits members: SELECT unified_state.admit(…)") from None
        row = connection.execute("SELECT unified_state.project(), unified_state.author()").fetchone()
        if row is None or None in row:
            message = f"{server} has nothing of this project yet, and {self.member!r} may only read"
            raise StorageError(message, "somebody who may write opens it first")
        return (row[0], row[1])

    def ask(self, connection: Connection[Any]) -> list[int]:
        """Say who asks, for this transaction; the authors whose history is readable."""
        row = connection.execute(_ASK, self._names).fetchone()
        return list(row[0]) if row else []

    def lock(self, connection: Connection[Any]) -> None:
        """Wait for one's turn to write in this project; it ends with the transaction. Raises StorageError where one may
        only read.
        """
        self.take(connection, 0)

    def take(self, connection: Connection[Any], many: int) -> int:
        """Take the next numbers of the project, as many as that; returns the last one before them. Raises as `lock`."""
        try:
            (before,) = connection.execute(_TAKE, [min(many, _MOST)]).fetchone() or (0,)
            for begun in range(_MOST, many, _MOST):  # nobody else takes any meanwhile: they follow on
                connection.execute(_TAKE, [min(many - begun, _MOST)])
        except InsufficientPrivilege as error:
            message = f"{self._place}: {self.member!r} may only read: {error.diag.message_primary}"
            raise StorageError(message, "an administrator lets members write: SELECT unified_state.admit(…)") from None
        return int(before)
