"""Tombstones on the server: they delete their records, and reject the same records when they arrive later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.team.postgres.connections import OWN, Asker
from unified_state.team.postgres.postgres_values import from_text, to_key, to_number, to_text
from unified_state.team.postgres.step_words import take_words

if TYPE_CHECKING:
    from psycopg import Connection

_KNOWN = f"""
SELECT what, key, at FROM unified_state.tombstone WHERE {OWN} AND what = ANY(%(whats)s) AND key = ANY(%(keys)s)
"""
_NOTE = """
INSERT INTO unified_state.tombstone (project, author, what, key, at)
VALUES (%(project)s, %(author)s, %(what)s, %(key)s, %(at)s)
ON CONFLICT (project, author, what, key) DO UPDATE SET at = excluded.at
"""
_STEPS_OF_SESSION = """
SELECT number FROM unified_state.step
WHERE project = %(project)s AND author = %(author)s AND session = %(number)s AND at <= %(at)s
UNION
SELECT step.number FROM unified_state.step_copy
JOIN unified_state.step ON step.project = step_copy.project AND step.author = step_copy.author
    AND step.number = step_copy.step
WHERE step_copy.project = %(project)s AND step_copy.author = %(author)s AND step_copy.session = %(number)s
    AND at <= %(at)s
"""
_DROP_EMPTY_SESSION = f"""
DELETE FROM unified_state.session WHERE {OWN} AND number = %(number)s
AND NOT EXISTS (SELECT 1 FROM unified_state.step
    WHERE step.project = session.project AND step.author = session.author AND step.session = session.number)
AND NOT EXISTS (SELECT 1 FROM unified_state.step_copy
    WHERE step_copy.project = session.project AND step_copy.author = session.author
        AND step_copy.session = session.number)
"""
# The rows that a tombstone deletes: its kind, their table, and the column of their key.
_REMOVED = (
    (ITEM, "item", "uuid"),
    (ITEM, "link", "from_uuid"),
    (ITEM, "link", "to_uuid"),
    (COMPACTION, "compaction", "boundary"),
)


class Batch:
    """The records of one append, by kind."""

    def __init__(self) -> None:
        self.sessions: list[StoredSession] = []
        self.items: list[StoredItem] = []
        self.links: list[StoredLink] = []
        self.compactions: list[StoredCompaction] = []
        self.tombstones: list[Tombstone] = []
        self.steps: list[tuple[str, str, int]] = []  # session, key and time, by ordinal
        self.masked: list[StoredStep] = []  # steps that were masked later

    def names(self) -> set[tuple[str, str]]:
        """Return the tombstone keys of all records in the batch, and the keys of its tombstones."""
        return {
            *((SESSION, session.session_id) for session in self.sessions),
            *((SESSION, compaction.session_id) for compaction in self.compactions),
            *((SESSION, session) for session, _, _ in self.steps),
            *((STEP, key) for _, key, _ in self.steps),
            *((ITEM, item.uuid) for item in self.items),
            *((ITEM, uuid) for link in self.links for uuid in (link.from_uuid, link.to_uuid)),
            *((COMPACTION, compaction.boundary_uuid) for compaction in self.compactions),
            *((stone.what, stone.key) for stone in self.tombstones),
        }


class Forgetting:
    """The tombstones that concern one append.

    Appends to one project never overlap, so create it while holding the project's lock. It stores the batch's own
    tombstones (`added` counts the new ones). `gone` are the ordinals of forgotten steps.
    """

    def __init__(self, connection: Connection[Any], asker: Asker, batch: Batch) -> None:
        self._connection, self._asker, self.batch = connection, asker, batch
        names = batch.names()
        keys = {"whats": list({to_text(what) for what, _ in names}), "keys": [to_text(key) for _, key in names]}
        rows = connection.execute(_KNOWN, asker.given(**keys)).fetchall()
        known = {(from_text(what), from_text(key)): at for what, key, at in rows}
        self._at: dict[tuple[str, str], int] = dict(known)
        for stone in batch.tombstones:
            name, at = (stone.what, stone.key), to_number(stone.at) or 0
            self._at[name] = max(self._at.get(name, at), at)
        changed = [
            asker.given(what=to_text(what), key=to_text(key), at=at)
            for (what, key), at in self._at.items()
            if known.get((what, key)) != at
        ]
        with connection.cursor() as cursor:
            cursor.executemany(_NOTE, changed)
        self.added = len(self._at) - len(known)
        self.gone = {
            ordinal
            for ordinal, (session, key, at) in enumerate(batch.steps, 1)
            if (STEP, key) in self._at or self._is_past(session, at)
        }

    def remaining_sessions(self) -> list[StoredSession]:
        """Return the sessions that the batch contains or names, without sessions that were forgotten completely."""
        named = [session for ordinal, (session, _, _) in enumerate(self.batch.steps, 1) if ordinal not in self.gone]
        named += [compaction.session_id for compaction in self.remaining_compactions()]
        told = [
            session
            for session in self.batch.sessions
            if not self._is_past(session.session_id, max(session.seen_at or 0, session.started_at or 0))
        ]
        present = {session.session_id for session in told}
        return told + [StoredSession(name) for name in dict.fromkeys(named) if name not in present]

    def remaining_items(self) -> list[StoredItem]:
        """Return the items of the batch that were not forgotten."""
        return [item for item in self.batch.items if (ITEM, item.uuid) not in self._at]

    def remaining_links(self) -> list[StoredLink]:
        """Return the links of the batch between items that were not forgotten."""
        return [
            link
            for link in self.batch.links
            if (ITEM, link.from_uuid) not in self._at and (ITEM, link.to_uuid) not in self._at
        ]

    def remaining_compactions(self) -> list[StoredCompaction]:
        """Return the compactions of the batch that were not forgotten, alone or with their sessions."""
        return [
            compaction
            for compaction in self.batch.compactions
            if (COMPACTION, compaction.boundary_uuid) not in self._at
            and not self._is_past(compaction.session_id, compaction.at)
        ]

    def apply(self) -> int:
        """Delete the records of the batch's tombstones. Return the number of deleted steps."""
        named: dict[str, list[str]] = {STEP: [], ITEM: [], COMPACTION: []}
        sessions = [stone for stone in self.batch.tombstones if stone.what == SESSION]
        for stone in self.batch.tombstones:
            named.get(stone.what, []).append(stone.key)
        taken = self._take(self._numbers_of(named[STEP])) if named[STEP] else 0
        for what, table, column in _REMOVED:
            if named[what]:
                self._run(
                    f"DELETE FROM unified_state.{table} WHERE {OWN} AND {column} = ANY(%(keys)s)",
                    keys=list(map(to_text, named[what])),
                )
        return taken + sum(map(self._forget_session, sessions))

    def _is_past(self, session: str, at: int) -> bool:
        return (SESSION, session) in self._at and at <= self._at[SESSION, session]

    def _run(self, sql: str, **values: Any) -> Any:
        return self._connection.execute(sql, self._asker.given(**values))

    def _numbers_of(self, keys: list[str]) -> list[int]:
        """Return the numbers of steps by the keys of their tombstones."""
        parts = [key.rpartition("/") for key in keys]
        named = {(to_key(uuid), to_number(int(block))) for uuid, _, block in parts if block.isdecimal()}
        rows = self._run(
            f"SELECT number, uuid, block FROM unified_state.step WHERE {OWN} AND uuid = ANY(%(uuids)s)",
            uuids=list({uuid for uuid, _ in named}),
        )
        return [number for number, uuid, block in rows.fetchall() if (uuid, block) in named]

    def _take(self, numbers: list[int]) -> int:
        if numbers:
            take_words(self._connection, self._asker, numbers)
            for table, column in (("step", "number"), ("step_copy", "step")):
                self._run(
                    f"DELETE FROM unified_state.{table} WHERE {OWN} AND {column} = ANY(%(numbers)s)", numbers=numbers
                )
        return len(numbers)

    def _forget_session(self, stone: Tombstone) -> int:
        """Delete the part of a session up to the tombstone's time, also in its forks."""
        known = {"name": to_text(stone.key), "at": to_number(stone.at)}
        row = self._run(f"SELECT number FROM unified_state.session WHERE {OWN} AND session_id = %(name)s", **known)
        found = row.fetchone()
        if found is None:
            return 0
        rows = self._run(_STEPS_OF_SESSION, **known, number=found[0]).fetchall()
        taken = self._take([number for (number,) in rows])
        self._run(
            f"DELETE FROM unified_state.compaction WHERE {OWN} AND session_id = %(name)s AND at <= %(at)s", **known
        )
        self._run(_DROP_EMPTY_SESSION, number=found[0])
        return taken
