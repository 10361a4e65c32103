"""Tombstones on the server: what they name leaves, and what comes again later is not kept."""

from __future__ import annotations

from unified_state.model.history_records import COMPACTION, ITEM, SESSION, STEP, StoredSession
from unified_state.team.postgres.postgres_values import from_text, to_key, to_number, to_text
from unified_state.team.postgres.step_words import take_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from psycopg import Connection

    from unified_state.model.history_records import StoredCompaction, StoredItem, StoredLink, StoredStep, Tombstone
    from unified_state.team.postgres.connections import Asker

_OWN = "project = %s AND author = %s"
_RAISE = """
UPDATE unified_state.tombstone SET at = greatest(at, %(at)s)
WHERE project = %(project)s AND author = %(author)s AND what = %(what)s AND key = %(key)s
"""
_NOTE = """
INSERT INTO unified_state.tombstone (project, author, what, key, at)
VALUES (%(project)s, %(author)s, %(what)s, %(key)s, %(at)s) ON CONFLICT DO NOTHING
"""
_STEPS_OF_SESSION = """
SELECT number FROM unified_state.step WHERE project = %s AND author = %s AND session = %s AND at <= %s
UNION
SELECT step.number FROM unified_state.step_copy
JOIN unified_state.step ON step.project = step_copy.project AND step.author = step_copy.author
    AND step.number = step_copy.step
WHERE step_copy.project = %s AND step_copy.author = %s AND step_copy.session = %s AND at <= %s
"""
_DROP_EMPTY_SESSION = """
DELETE FROM unified_state.session WHERE project = %s AND author = %s AND number = %s
AND NOT EXISTS (SELECT 1 FROM unified_state.step
    WHERE step.project = session.project AND step.author = session.author AND step.session = session.number)
AND NOT EXISTS (SELECT 1 FROM unified_state.step_copy
    WHERE step_copy.project = session.project AND step_copy.author = session.author
        AND step_copy.session = session.number)
"""


class Batch:
    """What one append brings; the steps are on their way to the server while it is read."""

    def __init__(self) -> None:
        self.sessions: list[StoredSession] = []
        self.items: list[StoredItem] = []
        self.links: list[StoredLink] = []
        self.compactions: list[StoredCompaction] = []
        self.tombstones: list[Tombstone] = []
        self.steps: list[tuple[str, str, int]] = []  # session, key and time, by ordinal
        self.masked: list[StoredStep] = []  # those of the steps that were masked later on

    def session_ids(self) -> set[str]:
        """All sessions that a record names."""
        told = {session.session_id for session in self.sessions}
        return told | {step[0] for step in self.steps} | {compaction.session_id for compaction in self.compactions}


class Forgetting:
    """The tombstones that concern one append. Two appends of a project never overlap from `read` on."""

    def __init__(self, connection: Connection[Any], asker: Asker) -> None:
        self._connection, self._asker = connection, asker
        self._run = connection.execute
        self._own = [asker.project, asker.author]
        self._sessions: dict[str, int] = {}
        self._others: set[tuple[str, str]] = set()
        self._gone: set[int] = set()
        self.taken = 0  # how many steps were taken away

    def note(self, tombstones: Iterable[Tombstone]) -> int:
        """Put tombstones up; how many are new."""
        given: dict[tuple[str, str], dict[str, Any]] = {}
        for stone in tombstones:
            noted = given.setdefault((stone.what, stone.key), self._values(stone))
            noted["at"] = max(noted["at"], to_number(stone.at))
        if not given:
            return 0
        with self._connection.cursor() as cursor:
            cursor.executemany(_RAISE, given.values())
            cursor.executemany(_NOTE, given.values())
            return cursor.rowcount

    def read(self, batch: Batch) -> None:
        """Read what concerns a batch, and take the forgotten steps out of it."""
        keys = {
            SESSION: batch.session_ids(),
            STEP: {key for _, key, _ in batch.steps},
            ITEM: {item.uuid for item in batch.items}
            | {uuid for link in batch.links for uuid in (link.from_uuid, link.to_uuid)},
            COMPACTION: {compaction.boundary_uuid for compaction in batch.compactions},
        }
        for what, named in keys.items():
            rows = (
                self._run(
                    f"SELECT key, at FROM unified_state.tombstone WHERE {_OWN} AND what = %s AND key = ANY(%s)",
                    [*self._own, what, list(map(to_text, named))],
                ).fetchall()
                if named
                else []
            )
            if what == SESSION:
                self._sessions = {from_text(key): at for key, at in rows}
            else:
                self._others |= {(what, from_text(key)) for key, _ in rows}
        gone = [
            ordinal
            for ordinal, (session, key, at) in enumerate(batch.steps, 1)
            if (STEP, key) in self._others or self._is_past(session, at)
        ]
        if gone:
            self._run("DELETE FROM pg_temp.unified_state_incoming WHERE ordinal = ANY(%s)", [gone])
        self._gone = set(gone)

    def of_item(self, uuid: str) -> bool:
        """Whether an item was forgotten."""
        return (ITEM, uuid) in self._others

    def of_compaction(self, compaction: StoredCompaction) -> bool:
        """Whether a compaction was forgotten, or its session after it."""
        return (COMPACTION, compaction.boundary_uuid) in self._others or self._is_past(
            compaction.session_id, compaction.at
        )

    def remaining_sessions(self, batch: Batch) -> list[StoredSession]:
        """The sessions that a batch tells of or names, without those of which nothing is left."""
        named = [
            StoredSession(session_id=session)
            for ordinal, (session, _, _) in enumerate(batch.steps, 1)
            if ordinal not in self._gone
        ]
        named += [
            StoredSession(session_id=compaction.session_id)
            for compaction in batch.compactions
            if not self.of_compaction(compaction)
        ]
        told = [
            session
            for session in batch.sessions
            if not self._is_past(session.session_id, max(session.seen_at or 0, session.started_at or 0))
        ]
        present = {session.session_id for session in told}
        return told + list(
            {session.session_id: session for session in named if session.session_id not in present}.values()
        )

    def apply(self, tombstones: Iterable[Tombstone]) -> None:
        """Take away what tombstones name."""
        stones = list(tombstones)
        self._steps([stone.key for stone in stones if stone.what == STEP])
        for stone in stones:
            match stone.what:
                case "item":
                    self._item(stone.key)
                case "compaction":
                    self._run(
                        f"DELETE FROM unified_state.compaction WHERE {_OWN} AND boundary = %s",
                        [*self._own, to_text(stone.key)],
                    )
                case "session":
                    self._session(stone)

    def _values(self, stone: Tombstone) -> dict[str, Any]:
        return {
            "project": self._own[0],
            "author": self._own[1],
            "what": to_text(stone.what),
            "key": to_text(stone.key),
            "at": to_number(stone.at),
        }

    def _is_past(self, session: str, at: int) -> bool:
        return session in self._sessions and at <= self._sessions[session]

    def _steps(self, keys: list[str]) -> None:
        """Steps by the keys of their tombstones: all at once, since a session that is forgotten has many."""
        parts = [key.rpartition("/") for key in keys]
        named = {(to_key(uuid), to_number(int(block))) for uuid, _, block in parts if block.isdecimal()}
        rows = self._run(
            f"SELECT number, uuid, block FROM unified_state.step WHERE {_OWN} AND uuid = ANY(%s)",
            [*self._own, list({uuid for uuid, _ in named})],
        ).fetchall()
        self._take([number for number, uuid, block in rows if (uuid, block) in named])

    def _take(self, numbers: list[int]) -> None:
        if not numbers:
            return
        take_words(self._connection, self._asker, numbers)
        for table, column in (("step", "number"), ("step_copy", "step")):
            self._run(f"DELETE FROM unified_state.{table} WHERE {_OWN} AND {column} = ANY(%s)", [*self._own, numbers])
        self.taken += len(numbers)

    def _item(self, uuid: str) -> None:
        given = [*self._own, to_text(uuid)]
        self._run(f"DELETE FROM unified_state.item WHERE {_OWN} AND uuid = %s", given)
        self._run(f"DELETE FROM unified_state.link WHERE {_OWN} AND %s IN (from_uuid, to_uuid)", given)

    def _session(self, stone: Tombstone) -> None:
        """All that a session said up to then; also where a fork of it holds that."""
        name = to_text(stone.key)
        row = self._run(
            f"SELECT number FROM unified_state.session WHERE {_OWN} AND session_id = %s", [*self._own, name]
        ).fetchone()
        if row is None:
            return
        rows = self._run(
            _STEPS_OF_SESSION,
            [*self._own, row[0], to_number(stone.at)] * 2,
        ).fetchall()
        self._take([number for (number,) in rows])
        self._run(
            f"DELETE FROM unified_state.compaction WHERE {_OWN} AND session_id = %s AND at <= %s",
            [*self._own, name, to_number(stone.at)],
        )
        self._run(_DROP_EMPTY_SESSION, [*self._own, row[0]])
