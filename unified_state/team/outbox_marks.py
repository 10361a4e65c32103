"""Whether a server still has what it was told: one that was restored from a backup, or made anew, has not.

Each batch raises a number: on the server, which has the batch by then, next here, and only then the batch is settled.
So a server whose number is the smaller one lost what was settled here.
"""

from __future__ import annotations

from unified_state.memory.archive.schema.outbox_triggers import note_everything

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.history.store_protocol import MarkStore


class Mark:
    """The number of an archive, whose id is `replica`, on a server and here. A store without marks is never behind."""

    def __init__(self, archive: Archive, server: str, replica: str, store: MarkStore | None) -> None:
        self._archive, self._server, self._replica, self._store = archive, server, replica, store
        self._name = f"mark of {server}"
        self._there = 0 if store is None else store.read(replica)

    def begin_anew(self) -> bool:
        """Where the server is not as far as it was: let everything wait for it again. Whether it was so. Raises
        StorageError where it only follows another one: a standby.
        """
        archive = self._archive
        if self._store is None or self._there >= int(archive.meta(self._name) or 0):
            return False
        self._store.keep(self._replica, self._there)  # which no standby takes
        with archive.transaction():
            (server,) = archive.row("SELECT id FROM outbox_server WHERE name = ?", self._server)
            archive.run("DELETE FROM outbox_session WHERE server = ?", server)
            archive.run("UPDATE outbox_vectors SET position = 0 WHERE server = ?", server)
            archive.run("UPDATE outbox_server SET step = 0 WHERE id = ?", server)
            note_everything(archive, server)
            archive.set_meta(self._name, str(self._there))
        return True

    def up(self) -> None:
        """Note that the server has one batch more."""
        if self._store is not None:
            self._there += 1
            self._store.keep(self._replica, self._there)
            with self._archive.transaction(durable=False):
                self._archive.set_meta(self._name, str(self._there))
