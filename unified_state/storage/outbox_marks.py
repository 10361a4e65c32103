"""Whether a server still has what it was told: one that was restored from a backup, or made anew, has not.

Each batch raises a number: on the server, which has the batch by then, next here, and only then the batch is settled.
So a server whose number is the smaller one lost what was settled here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.storage.archive import Archive
    from unified_state.storage.tiers.protocol import MarkStore


class Mark:
    """The number of an archive, whose id is `replica`, on a server and here. A store without marks is never behind."""

    def __init__(self, archive: Archive, server: str, replica: str, store: MarkStore | None) -> None:
        self._archive, self._store, self._replica = archive, store, replica
        self._name = f"mark of {server}"
        self._there = 0 if store is None else store.read(replica)

    def is_behind(self) -> bool:
        """Whether the server is not as far as it was. Raises StorageError where it is behind since it only follows
        another one: a standby.
        """
        if self._store is None or self._there >= int(self._archive.meta(self._name) or 0):
            return False
        self._store.keep(self._replica, self._there)  # which no standby takes
        return True

    def keep(self) -> None:
        """Let what the server has count from now on."""
        with self._archive.transaction(durable=False):
            self._archive.set_meta(self._name, str(self._there))

    def up(self) -> None:
        """Note that the server has one batch more."""
        if self._store is not None:
            self._store.keep(self._replica, self._there + 1)
            self._there += 1
            self.keep()
