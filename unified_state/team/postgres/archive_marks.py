"""How far the archives are that are replicated here: what a restored server tells them by."""

from __future__ import annotations

from unified_state.team.postgres.postgres_values import to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.team.postgres.server_vectors import Transaction
    from unified_state.team.postgres.tenancy import Asker

_READ = "SELECT mark FROM unified_state.replica WHERE project = %s AND author = %s AND archive = %s"
_KEEP = """
INSERT INTO unified_state.replica AS known (project, author, archive, mark) VALUES (%s, %s, %s, %s)
ON CONFLICT (project, author, archive) DO UPDATE SET mark = greatest(known.mark, excluded.mark)
"""


class Marks:
    """The marks of a member's archives of a project."""

    def __init__(self, transaction: Transaction, asker: Asker) -> None:
        self._transaction, self._asker = transaction, asker

    def read(self, archive: str) -> int:
        """The mark of an archive; see `MarkStore`."""
        with self._transaction() as (connection, _):
            row = connection.execute(_READ, [self._asker.project, self._asker.author, to_text(archive)]).fetchone()
            return int(row[0]) if row else 0

    def keep(self, archive: str, mark: int) -> None:
        """Raise the mark of an archive; see `MarkStore`."""
        with self._transaction() as (connection, _):
            connection.execute(_KEEP, [self._asker.project, self._asker.author, to_text(archive), mark])
