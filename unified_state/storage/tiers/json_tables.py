"""What the files of a JSON store say: its sessions, steps, items, links, compactions, and what was forgotten.

Each file is read when it is first asked for. Of several lines about the same thing the last one counts.
"""

from __future__ import annotations

from itertools import chain

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
from unified_state.storage.tiers.json_files import split_lines
from unified_state.storage.tiers.json_forms import key_in, masked, readable_fields, readable_records

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
NUMBER = "n"  # of a session or a compaction, in its line
TAKEN = "taken"  # aliases of items that were forgotten; the highest number that a compaction had


class Tables:
    """What is known. `numbers` name the files of sessions, and `names` are the sessions of the numbers. `keys` are
    all pairs of a step and a session that holds it, `places` their positions, `owners` the sessions that had a step
    first; `gone` are steps that were forgotten, `masked` those that wait to be put in place of what stands in the
    files, `taken` aliases that are or were in use, `cuts` the numbers of all compactions, `last_number` and `last_cut`
    the highest numbers that sessions and compactions have or had.
    """

    sessions: dict[str, StoredSession]
    numbers: dict[str, int]
    last_number: int
    names: dict[int, str]
    keys: list[bytes]
    places: dict[bytes, int]
    owners: dict[bytes, int]
    gone: set[bytes]
    masked: dict[bytes, dict[str, Any]]
    items: dict[str, StoredItem]
    taken: set[str]
    links: dict[tuple[str, str, str], StoredLink]
    compactions: dict[str, StoredCompaction]
    cuts: dict[str, int]
    last_cut: int
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
        found = readable_records(StoredSession, self._unnumbered(SESSIONS))
        return {session.session_id: session for session in found}  # one that is told again keeps its place

    def _numbers(self) -> dict[str, int]:
        """Each line tells its session's, so that one that the disk has changed moves no other to another file. Lines
        of an earlier time do not: those count.
        """
        numbers: dict[str, int] = {}
        for fields in self._fields(SESSIONS):
            name, number = fields.get("session_id"), fields.get(NUMBER)
            if name in self.sessions:
                numbers.setdefault(name, number if isinstance(number, int) else len(numbers) + 1)
        return numbers

    def _last_number(self) -> int:
        """Also of a session whose line the disk has changed."""
        used = {pair[pair.rfind(b" ") + 1 :] for pair in self.keys}
        return max(*self.numbers.values(), *(int(number) for number in used if number.isdigit()), 0, 0)

    def _names(self) -> dict[int, str]:
        return {number: name for name, number in self.numbers.items()}

    def _keys(self) -> list[bytes]:
        return self._lines(KEYS)

    def _places(self) -> dict[bytes, int]:
        return {pair: place for place, pair in enumerate(self.keys, 1)}

    def _owners(self) -> dict[bytes, int]:
        owners: dict[bytes, int] = {}
        for pair in reversed(self.keys):  # the first one owns
            key, _, session = pair.rpartition(b" ")
            if session.isdigit():  # else the disk has changed it
                owners[key] = int(session)
        return owners

    def _gone(self) -> set[bytes]:
        return set(self._lines(GONE))

    def _masked(self) -> dict[bytes, dict[str, Any]]:
        return {key: fields for fields in self._fields(CLEANING) if (key := key_in(fields)) is not None}

    def as_masked(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields of a step, with its secrets masked where that is still to be done in its file."""
        key = key_in(fields)
        newer = None if key is None else self.masked.get(key)
        return fields if newer is None else masked(fields, newer)

    def _items(self) -> dict[str, StoredItem]:
        told = (one for one in self._fields(ITEMS) if TAKEN not in one)
        items = readable_records(StoredItem, told)
        return {item.uuid: item for item in items if (ITEM, item.uuid) not in self.tombstones}

    def _taken(self) -> set[str]:
        """Also of items whose lines are still to be cleaned away, or cannot be read as a whole."""
        taken: list[object] = []
        for fields in self._fields(ITEMS):
            others = [fields.get(TAKEN), fields.get("aliases")]
            taken += [fields.get("alias"), *chain(*(names for names in others if isinstance(names, list)))]
        return {alias for alias in taken if isinstance(alias, str)}

    def _links(self) -> dict[tuple[str, str, str], StoredLink]:
        links = readable_records(StoredLink, self._fields(LINKS))
        return {
            (link.from_uuid, link.to_uuid, link.relation): link
            for link in links
            if not {(ITEM, link.from_uuid), (ITEM, link.to_uuid)} & self.tombstones.keys()
        }

    def _compactions(self) -> dict[str, StoredCompaction]:
        found = readable_records(StoredCompaction, self._unnumbered(COMPACTIONS))
        return {one.boundary_uuid: one for one in found if not self.is_forgotten_compaction(one)}

    def _cuts(self) -> dict[str, int]:
        """Each line tells its compaction's, so that one that was forgotten moves no other. Lines of an earlier time do
        not: those count.
        """
        numbers: dict[str, int] = {}
        for fields in self._fields(COMPACTIONS):
            name, number = fields.get("boundary_uuid"), fields.get(NUMBER)
            if isinstance(name, str):
                numbers.setdefault(name, number if isinstance(number, int) else len(numbers) + 1)
        return numbers

    def _last_cut(self) -> int:
        told = (fields.get(TAKEN) for fields in self._fields(COMPACTIONS))
        return max(*self.cuts.values(), *(number for number in told if isinstance(number, int)), 0, 0)

    def _tombstones(self) -> dict[tuple[str, str], Tombstone]:
        found = readable_records(Tombstone, self._fields(TOMBSTONES))
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

    def _unnumbered(self, name: str) -> Iterator[dict[str, Any]]:
        return ({name: value for name, value in one.items() if name != NUMBER} for one in self._fields(name))

    def _fields(self, name: str) -> Iterator[dict[str, Any]]:
        return readable_fields(self._lines(name))

    def _lines(self, name: str) -> list[bytes]:
        return split_lines(self._files.read(name))


def session_file(number: int) -> str:
    """The name of the file that holds a session's steps; sessions are numbered as they come."""
    return f"session-{number}.jsonl"
