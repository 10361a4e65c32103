"""A batch of records on its way into the files of a JSON store: what of it is new, and which lines that adds where.

Nothing is written here. A batch belongs to the moment in which it was made: whoever makes it holds the lock.
"""

from __future__ import annotations

from unified_state.records.history import (
    ITEM,
    SESSION,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.records.item import ALIAS_LETTERS
from unified_state.rules.newer import is_masked_later
from unified_state.rules.record_fields import telling_fields
from unified_state.storage.tiers.json_forms import joined, key_of, line_of
from unified_state.storage.tiers.json_steps import read_originals
from unified_state.storage.tiers.json_tables import (
    CLEANING,
    COMPACTIONS,
    ITEMS,
    KEYS,
    LINKS,
    SESSIONS,
    TOMBSTONES,
    Tables,
    session_file,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.records.history import HistoryRecord
    from unified_state.storage.tiers.json_files import LineFiles


class Batch:
    """Records that are added to what is known; `count` says how much of it is new."""

    def __init__(self, files: LineFiles) -> None:
        self._files = files
        self._tables = tables = Tables(files)
        self._lines: dict[str, list[bytes]] = {}
        self.count = 0
        self._places = len(tables.keys)
        self._masked_at: dict[bytes, int | None] = {}  # of the steps that came by now

    @property
    def additions(self) -> dict[str, bytes]:
        """What is to be added to each file."""
        return {name: b"".join(lines) for name, lines in self._lines.items()}

    def add(self, record: HistoryRecord) -> None:
        """Take one record in."""
        match record:
            case StoredSession():
                self._add_session(record)
            case StoredStep():
                self._add_step(record)
            case StoredItem():
                self._add_item(record)
            case StoredLink():
                self._add_link(record)
            case StoredCompaction():
                self._add_compaction(record)
            case Tombstone():
                self._add_tombstone(record)

    def _add_session(self, session: StoredSession) -> None:
        sessions, numbers = self._tables.sessions, self._tables.numbers
        known = sessions.get(session.session_id)
        now = session if known is None else joined(known, session)
        if now != known:
            if session.session_id not in numbers:
                self._tables.last_number += 1
                numbers[session.session_id] = self._tables.last_number
            sessions[session.session_id] = now
            self._write(SESSIONS, line_of(now, n=numbers[session.session_id]))

    def _number(self, session_id: str) -> int:
        """The number of a session, which is made where nobody told of it."""
        if session_id not in self._tables.numbers:
            self._add_session(StoredSession(session_id=session_id))
        return self._tables.numbers[session_id]

    def _add_step(self, step: StoredStep) -> None:
        tables, key = self._tables, key_of(step.uuid, step.block)
        if tables.is_forgotten_step(step, key):
            return
        number = self._number(step.session_id)
        pair = key + b" %d" % number
        if key not in tables.owners:
            self._masked_at[key] = step.masked_at
        elif is_masked_later(step, self._when_masked(key)):
            self._masked_at[key] = step.masked_at
            self._write(CLEANING, line_of(step))
        if pair in tables.places:
            return
        owner = tables.owners.setdefault(key, number)
        self._places += 1
        place = tables.places[pair] = self._places
        if owner == number:
            fields = telling_fields(step)
            if session_file(number) in self._lines:  # the first line of a batch tells whose file this is
                del fields["session_id"]  # the others are not to be found by who looks for the word
            line = line_of(fields, n=place)
        else:  # the text is there once
            told = {"uuid": step.uuid, "block": step.block, "at": step.at, "starts_turn": step.starts_turn}
            line = line_of(told, n=place, of=[owner, tables.places[key + b" %d" % owner]])
        self._write(KEYS, pair + b"\n")
        self._write(session_file(number), line)
        self.count += 1

    def _when_masked(self, key: bytes) -> int | None:
        """When a step that is there was masked, if it ever was."""
        if key not in self._masked_at:
            owner = self._tables.owners[key]
            place = owner, self._tables.places[key + b" %d" % owner]
            fields = read_originals(self._files, [place]).get(place)
            self._masked_at[key] = None if fields is None else self._tables.as_masked(fields).get("masked_at")
        return self._masked_at[key]

    def _add_item(self, item: StoredItem) -> None:
        items = self._tables.items
        if (ITEM, item.uuid) in self._tables.tombstones:
            return
        known = items.get(item.uuid)
        if known is not None:
            if (item.changed_at or "") <= (known.changed_at or ""):
                return
            names = {item.alias, *item.aliases, *known.aliases} - {known.alias}
            item = item.replace(alias=known.alias, aliases=tuple(sorted(names)))
        else:
            item = self._named(item)
            self.count += 1
        items[item.uuid] = item
        self._tables.taken.update((item.alias, *item.aliases))
        self._write(ITEMS, line_of(item))

    def _named(self, item: StoredItem) -> StoredItem:
        """A new item with an alias that no other one has or had; without one of its own it is given the next."""
        taken = self._tables.taken
        if item.alias and item.alias not in taken:
            return item
        letter = ALIAS_LETTERS.get(item.kind, "I")
        numbers = [int(alias[1:]) for alias in taken if alias[:1] == letter and alias[1:].isdecimal()]
        alias = f"{letter}{max(numbers, default=0) + 1}"
        before = (*item.aliases, item.alias) if item.alias else item.aliases
        return item.replace(alias=alias, aliases=tuple(dict.fromkeys(before)))

    def _add_link(self, link: StoredLink) -> None:
        key = (link.from_uuid, link.to_uuid, link.relation)
        is_forgotten = {(ITEM, link.from_uuid), (ITEM, link.to_uuid)} & self._tables.tombstones.keys()
        if key not in self._tables.links and not is_forgotten:
            self._tables.links[key] = link
            self._write(LINKS, line_of(link))
            self.count += 1

    def _add_compaction(self, compaction: StoredCompaction) -> None:
        if self._tables.is_forgotten_compaction(compaction):
            return
        known = self._tables.compactions.get(compaction.boundary_uuid)
        if known is not None and is_masked_later(compaction, known.masked_at):
            self._write(CLEANING, b"\n")  # what stood there
        elif known is not None and (known.summary is not None or compaction.summary is None):
            return
        self._number(compaction.session_id)
        self._tables.compactions[compaction.boundary_uuid] = compaction
        self._write(COMPACTIONS, line_of(compaction, n=self._cut(compaction.boundary_uuid)))
        self.count += known is None

    def _cut(self, boundary_uuid: str) -> int:
        """The number of a compaction, also of a new one."""
        if boundary_uuid not in self._tables.cuts:
            self._tables.last_cut += 1
            self._tables.cuts[boundary_uuid] = self._tables.last_cut
        return self._tables.cuts[boundary_uuid]

    def _add_tombstone(self, tombstone: Tombstone) -> None:
        key = (tombstone.what, tombstone.key)
        known = self._tables.tombstones.get(key)
        if known is not None and (tombstone.what != SESSION or known.at >= tombstone.at):
            return
        self._tables.tombstones[key] = tombstone
        self._write(TOMBSTONES, line_of(tombstone))
        self.count += known is None
        self._write(CLEANING, b"\n")

    def _write(self, name: str, line: bytes) -> None:
        self._lines.setdefault(name, []).append(line)
