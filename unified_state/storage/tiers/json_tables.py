"""What the files of a JSON store say: its sessions, steps, items, links, compactions, and what was forgotten.

Each file is read when it is first asked for. Of several lines about the same thing the last one counts.
"""

from __future__ import annotations

from unified_state.records.history import (
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    Tombstone,
)
from unified_state.storage.tiers.json_forms import key_of, masked, readable_fields, record_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.records.history import StoredStep
    from unified_state.storage.tiers.json_files import LineFiles

SESSIONS, KEYS, ITEMS, LINKS = "sessions.jsonl", "keys", "items.jsonl", "links.jsonl"
COMPACTIONS, TOMBSTONES, GONE = "compactions.jsonl", "tombstones.jsonl", "gone"
# Holds something while what was forgotten is still to be taken out of the files; steps that are to be put in the place
# of those that were not masked yet.
CLEANING = "cleaning"
TAKEN = "taken"  # aliases of items that were forgotten


class Tables:
    """What is known. `places` are the positions of all pairs of a step and a session that holds it, `owners` the
    sessions that had a step first; `gone` are steps that were forgotten, `masked` those that wait to be put in place of
    what stands in the files, `taken` aliases that are or were in use.
    """

    sessions: dict[str, StoredSession]
    places: dict[bytes, int]
    owners: dict[bytes, int]
    gone: set[bytes]
    masked: dict[bytes, dict[str, Any]]
    items: dict[str, StoredItem]
    taken: set[str]
    links: dict[tuple[str, str, str], StoredLink]
    compactions: dict[str, StoredCompaction]
    tombstones: dict[tuple[str, str], Tombstone]

    def __init__(self, files: LineFiles) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        """A table is made when it is first asked for."""
        if name not in Tables.__annotations__:
            raise AttributeError(name)
        made = self.__dict__[name] = getattr(self, f"_{name}")()
        return made

    def _sessions(self) -> dict[str, StoredSession]:
        found = (record_of(StoredSession, fields) for fields in self._fields(SESSIONS))
        return {session.session_id: session for session in found}  # one that is told again keeps its place

    def _places(self) -> dict[bytes, int]:
        return {pair: place for place, pair in enumerate(self._lines(KEYS), 1)}

    def _owners(self) -> dict[bytes, int]:
        owners: dict[bytes, int] = {}
        for pair in reversed(self.places):  # the first one owns
            key, _, session = pair.rpartition(b" ")
            owners[key] = int(session)
        return owners

    def _gone(self) -> set[bytes]:
        return set(self._lines(GONE))

    def _masked(self) -> dict[bytes, dict[str, Any]]:
        return {key_of(fields["uuid"], fields["block"]): fields for fields in self._fields(CLEANING)}

    def as_masked(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields of a step, with its secrets masked where that is still to be done in its file."""
        newer = self.masked.get(key_of(fields["uuid"], fields["block"]))
        return fields if newer is None else masked(fields, newer)

    def _items(self) -> dict[str, StoredItem]:
        items = (record_of(StoredItem, one) for one in self._fields(ITEMS) if TAKEN not in one)
        return {item.uuid: item for item in items if (ITEM, item.uuid) not in self.tombstones}

    def _taken(self) -> set[str]:
        """Also of items whose lines are still to be cleaned away."""
        taken: set[str] = set()
        for fields in self._fields(ITEMS):
            taken.update(fields.get(TAKEN) or (fields["alias"], *fields.get("aliases", ())))
        return taken

    def _links(self) -> dict[tuple[str, str, str], StoredLink]:
        links = (record_of(StoredLink, fields) for fields in self._fields(LINKS))
        return {
            (link.from_uuid, link.to_uuid, link.relation): link
            for link in links
            if not {(ITEM, link.from_uuid), (ITEM, link.to_uuid)} & self.tombstones.keys()
        }

    def _compactions(self) -> dict[str, StoredCompaction]:
        found = (record_of(StoredCompaction, fields) for fields in self._fields(COMPACTIONS))
        return {one.boundary_uuid: one for one in found if not self.is_forgotten_compaction(one)}

    def _tombstones(self) -> dict[tuple[str, str], Tombstone]:
        found = (record_of(Tombstone, fields) for fields in self._fields(TOMBSTONES))
        return {(one.what, one.key): one for one in found}

    def is_forgotten_step(self, step: StoredStep, key: bytes) -> bool:
        """Whether a step was forgotten, by itself or with its session."""
        return (
            key in self.gone
            or (STEP, f"{step.uuid}/{step.block}") in self.tombstones
            or self._is_before_forgetting(step.session_id, step.at)
        )

    def is_forgotten_compaction(self, compaction: StoredCompaction) -> bool:
        """Whether a compaction was forgotten, by itself or with its session."""
        by_itself = (COMPACTION, compaction.boundary_uuid) in self.tombstones
        return by_itself or self._is_before_forgetting(compaction.session_id, compaction.at)

    def _is_before_forgetting(self, session_id: str, at: int) -> bool:
        forgotten = self.tombstones.get((SESSION, session_id))
        return forgotten is not None and at <= forgotten.at

    def _fields(self, name: str) -> Iterator[dict[str, Any]]:
        return readable_fields(self._lines(name))

    def _lines(self, name: str) -> list[bytes]:
        return self._files.read(name).split(b"\n")[:-1]


def session_file(number: int) -> str:
    """The name of the file that holds a session's steps; sessions are numbered as they come."""
    return f"session-{number}.jsonl"
