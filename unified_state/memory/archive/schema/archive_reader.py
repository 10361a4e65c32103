"""The archive for whoever only looks, and never waits: not made if it is missing, not brought to a new version."""

from __future__ import annotations

from unified_state.lib.stdlib import DatabaseError, connect
from unified_state.memory.archive.archive import Archive, storage_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.lib.stdlib import Connection


class ArchiveReader(Archive):
    """An archive opened for reading alone; a writer who holds it for longer than `seconds` makes that fail."""

    def _open(self, seconds: float) -> Connection:
        # In the URI of a file these three have a meaning of their own.
        path = self.path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        try:
            return connect(f"file:{path}?mode=ro", timeout=seconds, isolation_level=None, uri=True)
        except DatabaseError as error:
            raise storage_error(error, self.path) from error
