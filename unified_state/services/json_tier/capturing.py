"""Capture without an archive: what is new in a transcript goes into the JSON history, masked as everywhere.

Steps are known by their entry, so the place up to which a transcript was read is written down after them: a hook that
is killed in between reads a chunk again, and nothing is there twice.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from unified_state.records.history import StoredCompaction, StoredSession, StoredStep
from unified_state.records.step import Boundary, Step, Summary
from unified_state.rules.privacy import hide_private
from unified_state.services.json_tier.reading import newest_steps
from unified_state.services.masking import masked_step, masked_text
from unified_state.services.pending import ENTRIES, WRITTEN_BY_THEN, is_running, is_said_by
from unified_state.services.transcript_facts import reader_of
from unified_state.sources.entry_facts import parent_of
from unified_state.sources.session_folder import session_folder, subagent_transcripts
from unified_state.sources.transcript import parse_entries, read_lines
from unified_state.storage.compactions import SUBAGENT_STOP, TRANSCRIPT
from unified_state.storage.pending import Pending
from unified_state.storage.tiers.json_desk import CURSORS, PENDING, SUMMARIES, WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.records.history import HistoryRecord
    from unified_state.services.json_tier.history import JsonHistory
    from unified_state.services.masking import Masker

_CHUNK_BYTES = 1 << 20
_RECENT = 200  # steps among which a message is looked for
_MOST_CURSORS = 500  # beyond which those of files that have gone are dropped


class JsonCapture:
    """One run of capturing. A history that stands in for an archive begins near the end of a transcript that it does
    not know: the archive knows how far it was read, and reads on from there once it can be used again.
    """

    def __init__(self, history: JsonHistory, masker: Masker, now: int, has_time: Callable[[], bool]) -> None:
        self._history = history
        self._masker = masker
        self._now = now
        self._has_time = has_time
        self._placed: set[str] = set()  # sessions whose summary has found its compaction

    def session(self, path: str, session_id: str) -> None:
        """Capture a session's transcript and those of its subagents."""
        complete = self.transcript(path, session_id)
        for subagent, agent in subagent_transcripts(session_folder(path)):
            complete = self.transcript(subagent, session_id, agent) and complete
        if complete:
            self._settle(session_id)

    def transcript(self, path: str, session_id: str, agent: str | None = None) -> bool:
        """Capture what is new in one file, as far as the time allows, one chunk always; whether it is at its end."""
        is_first = True
        while True:
            cursor = self._cursor(path, session_id, agent)
            if cursor is None:
                return True
            if not is_first and not self._has_time():
                return False
            end = self._chunk(path, cursor)
            if end == cursor["offset"]:
                return True
            self._history.desk.change(lambda desk: self._move(desk, path, {**cursor, "offset": end}), durable=False)  # noqa: B023  # called at once
            is_first = False

    def catch_up(self, limit: int = 20) -> None:
        """Capture what the sessions that were last alive still wrote."""
        desk = self._history.desk.read()
        own = [(path, one) for path, one in desk[CURSORS].items() if one["agent"] is None]
        own.sort(key=lambda found: desk[WORK].get(found[1]["session_id"], {}).get("seen_at", 0), reverse=True)
        for path, cursor in own[:limit]:
            if not self._has_time():
                return
            self.session(path, cursor["session_id"])

    def _cursor(self, path: str, session_id: str, agent: str | None) -> dict[str, Any] | None:
        """From where the file is to be read; None where nothing is new."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        if not S_ISREG(found.st_mode):
            return None
        known = self._history.desk.read()[CURSORS].get(path)
        if known is None:
            offset = self._near_end(path, found.st_size) if self._history.is_fallback else 0
            known = {"session_id": session_id, "agent": agent, "offset": offset, "inode": found.st_ino}
        elif known["inode"] != found.st_ino or known["offset"] > found.st_size:  # another file now
            known = {**known, "offset": 0, "inode": found.st_ino}
        return known if known["offset"] < found.st_size else None

    def _near_end(self, path: str, size: int) -> int:
        begin = size - _CHUNK_BYTES
        if begin <= 0:
            return 0
        with open(path, "rb") as file:
            file.seek(begin)
            file.readline()
            return file.tell()

    def _chunk(self, path: str, cursor: dict[str, Any]) -> int:
        """Keep what a chunk holds; where it ends."""
        session_id, end = str(cursor["session_id"]), int(cursor["offset"])
        records: list[HistoryRecord] = [StoredSession(session_id=session_id, started_at=self._now, seen_at=self._now)]
        read = reader_of(session_id)
        for end, line in read_lines(path, cursor["offset"]):
            for entry in parse_entries(line):
                for found in read(entry):
                    self._take(found, session_id, cursor["agent"], records)
                if (parent := parent_of(entry)) is not None:
                    records.append(StoredSession(session_id=session_id, predecessor=parent))
            if end - cursor["offset"] >= _CHUNK_BYTES:
                break
        if len(records) > 1:
            self._history.store.append(records)
        return end

    def _take(self, found: object, session_id: str, agent: str | None, records: list[HistoryRecord]) -> None:
        if isinstance(found, Step):
            fields = masked_step(self._masker, found).as_dict() | {"agent": found.agent or agent}
            records.append(StoredStep(session_id=session_id, **fields))
        elif isinstance(found, Boundary):
            told = self._history.desk.read()[SUMMARIES].get(session_id)
            records.append(
                StoredCompaction(
                    session_id=session_id,
                    boundary_uuid=found.uuid,
                    at=found.at,
                    trigger=found.trigger,
                    pre_tokens=found.pre_tokens,
                    summary=told,
                    summary_from=SUBAGENT_STOP if told else None,
                )
            )
            self._placed.add(session_id)
        elif isinstance(found, Summary):
            self._take_summary(found, session_id, records)

    def _take_summary(self, summary: Summary, session_id: str, records: list[HistoryRecord]) -> None:
        """A summary in the transcript belongs to the newest compaction of its session, unless a hook had told it."""
        known = [*self._history.store.compactions(), *records]
        ours = [one for one in known if isinstance(one, StoredCompaction) and one.session_id == session_id]
        if ours and ours[-1].summary is None:
            text = masked_text(self._masker, summary)
            records.append(ours[-1].replace(summary=text, summary_from=TRANSCRIPT))

    def _move(self, desk: dict[str, Any], path: str, cursor: dict[str, Any]) -> None:
        for session_id in self._placed:
            desk[SUMMARIES].pop(session_id, None)
        self._placed.clear()
        cursors = desk[CURSORS]
        cursors[path] = cursor
        if len(cursors) > _MOST_CURSORS:
            desk[CURSORS] = {other: one for other, one in cursors.items() if other == path or os.path.exists(other)}

    def keep(self, session_id: str, kind: str, text: str) -> None:
        """Remember a message that the transcript may never hold."""
        masked = self._masker.text(hide_private(text))
        if masked.strip():
            message = [session_id, kind, masked, self._now]  # it is only lost with the client and the machine
            self._history.desk.change(lambda desk: desk[PENDING].append(message), durable=False)

    def _settle(self, session_id: str) -> None:
        """Drop the messages that are there by now, keep those for good that the transcript lost."""
        desk = self._history.desk.read()
        waiting = [Pending(*rest) for owner, *rest in desk[PENDING] if owner == session_id]
        if not waiting:
            return
        steps = [step for _, step in newest_steps(self._history, session_id, _RECENT)]
        is_alive = is_running(desk[WORK].get(session_id, {}).get("pid"))
        lost, done = [], []
        for message in waiting:
            if any(
                step.kind in ENTRIES[message.kind] and is_said_by(message, step.at, step.text.strip()) for step in steps
            ):
                done.append(message)
            elif message.at <= self._now - (WRITTEN_BY_THEN if is_alive else 0):
                lost.append(message)
        self._history.store.append([_step_of(session_id, message) for message in lost])
        gone = [[session_id, *message.as_dict().values()] for message in done + lost]
        if gone:
            self._history.desk.change(lambda desk: _take_away(desk[PENDING], gone))


def _take_away(pending: list[Any], gone: list[Any]) -> None:
    pending[:] = [message for message in pending if message not in gone]


def _step_of(session_id: str, message: Pending) -> StoredStep:
    from unified_state.records.step import PROMPT

    return StoredStep(
        session_id=session_id,
        uuid=f"{session_id}/{message.kind}/{message.at}",
        block=0,
        kind=message.kind,
        at=message.at,
        text=message.text,
        starts_turn=message.kind == PROMPT,
    )
