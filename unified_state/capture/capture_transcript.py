"""Capture: what is new in a transcript goes into the archive, masked, in chunks that each commit with their offset.

Reading, masking and compressing happen outside the transaction: other sessions wait for a commit only. A hook that is
killed loses at most its current chunk; the next one continues behind the last.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from unified_state.agents.transcripts.claude_code import read_entry
from unified_state.agents.transcripts.transcript_lines import (
    continuation_of,
    cwd_of,
    parent_of,
    parse_entries,
    read_lines,
    session_folder,
    subagent_transcripts,
    tool_result_files,
)
from unified_state.lib.record import Record
from unified_state.lib.text import pack
from unified_state.memory.archive.compactions import (
    keep_boundary,
    keep_continuation,
    keep_transcript_summary,
    mark_delivered,
)
from unified_state.memory.archive.pending_messages import settle_messages
from unified_state.memory.archive.sessions import (
    Cursor,
    count_tool_calls,
    move_cursor,
    note_root,
    read_cursor,
    recent_transcripts,
    session_number,
    touch_session,
)
from unified_state.memory.archive.steps import first_unnoted, postpone
from unified_state.memory.archive.write_steps import StepWriter
from unified_state.memory.secrets.masker import masked_step, masked_text
from unified_state.model.hook_event import HOST_MARK
from unified_state.model.step import TOOL_FILE, Boundary, Continuation, Delivery, Step, Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.agents.transcripts.transcript_lines import Read
    from unified_state.capture.derive import Noter
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.secrets.masker import Masker

    Head = Callable[[], tuple[str | None, str | None]]
    Fact = Boundary | Summary | Delivery | Continuation
    Prepared = tuple[Step | Fact, str | bytes]


CHUNK_BYTES = 1 << 20
_INODE_BITS = (1 << 63) - 1  # that the archive can hold; some file systems use more


class Captured(Record):
    """What a capture did: how many steps were new, and whether it came to the end."""

    added: int = 0
    complete: bool = True

    def plus(self, other: Captured) -> Captured:
        """Both together."""
        return Captured(self.added + other.added, self.complete and other.complete)


class _Unread(Record):
    """A transcript with something new: its cursor as the archive has it, which file it is now, where the new begins."""

    cursor: Cursor
    inode: int
    offset: int


class _Chunk(Record):
    """What was read of a transcript: up to where, what it holds, the session it was forked from and the folder it began
    in, if it says so.
    """

    end: int
    prepared: list[Prepared]
    parent: str | None
    cwd: str | None


class Capture:
    """One run of capturing: the archive, how to mask, what time it is, whether there is time for more, and at which
    commit and branch the worktree is. One that `postpones` leaves new steps to the next run (see `capture.derive`).
    """

    def __init__(
        self,
        archive: Archive,
        masker: Masker,
        now: int,
        has_time: Callable[[], bool],
        *,
        head: Head = lambda: (None, None),
        chunk_bytes: int = CHUNK_BYTES,
        postpones: bool = False,
    ) -> None:
        self._archive = archive
        self._masker = masker
        self._now = now
        self._has_time = has_time
        self._chunk_bytes = chunk_bytes
        self._postpones = postpones
        self._head = head

    def session(self, transcript_path: str, session_id: str) -> Captured:
        """Capture a session: its transcript, those of its subagents, and the long results that lie in files of their
        own.
        """
        captured = self.transcript(transcript_path, session_id)
        folder = session_folder(transcript_path)
        for path, agent in subagent_transcripts(folder):
            captured = captured.plus(self.transcript(path, session_id, agent))
        captured = captured.plus(self.tool_files(folder, transcript_path, session_id))
        if captured.complete:
            settle_messages(self._archive, session_id, self._now)
        return captured

    def transcript(self, path: str, session_id: str, agent: str | None = None, *, to_end: bool = False) -> Captured:
        """Capture what is new in one transcript file, as far as the time allows; one chunk always."""
        added, is_first = 0, True
        self._note_postponed(session_id)
        while True:
            unread = self._unread(path, session_id, agent)
            if unread is None:
                return Captured(added)
            if not is_first and not self._has_time():
                return Captured(added, complete=False)
            chunk = self._read_chunk(path, unread.offset, reader_of(session_id), to_end=to_end)
            if chunk.end == unread.offset:
                return Captured(added)
            added += self._store(unread, chunk, session_id)
            is_first = False

    def _note_postponed(self, session_id: str) -> None:
        session = None if self._postpones else session_number(self._archive, session_id)
        if session is not None and first_unnoted(self._archive, session, 1):
            from unified_state.capture.derive import note_postponed

            note_postponed(self._archive, session, self._now, self._head)

    def tool_files(self, folder: str, transcript_path: str, session_id: str) -> Captured:
        """Capture the results that were too long for the transcript: the files in the session's `tool-results/`."""
        added = 0
        for path in tool_result_files(folder):
            if not self._has_time():
                return Captured(added, complete=False)
            added += capture_tool_file(self._archive, self._masker, self._now, path, transcript_path, session_id)
        return Captured(added)

    def catch_up(self, limit: int = 20) -> Captured:
        """Capture what the sessions that were last alive still wrote: a client that was killed fires no hook."""
        captured = Captured()
        for cursor, session_id in recent_transcripts(self._archive, limit):
            if not self._has_time():
                return captured.plus(Captured(complete=False))
            if cursor.agent is None:
                captured = captured.plus(self.session(cursor.path, session_id))
        return captured

    def _unread(self, path: str, session_id: str, agent: str | None) -> _Unread | None:
        """What is new in the file, if anything. One that shrank or is another file now is read from its beginning."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        if not S_ISREG(found.st_mode):
            return None
        inode = found.st_ino & _INODE_BITS
        cursor = read_cursor(self._archive, path)
        if cursor is None:
            with self._archive.transaction(durable=False):
                session = touch_session(self._archive, session_id, self._now)
                cursor = read_cursor(self._archive, path) or Cursor(path, session, agent, 0, inode, None)
                move_cursor(self._archive, cursor)
        goes_on = found.st_size >= cursor.offset and inode == cursor.inode
        offset = cursor.offset if goes_on else 0
        return _Unread(cursor, inode, offset) if offset < found.st_size else None

    def _read_chunk(self, path: str, offset: int, read: Read, *, to_end: bool) -> _Chunk:
        prepared: list[Prepared] = []
        end, parent, cwd = offset, None, None
        for end, line in read_lines(path, offset, to_end=to_end):
            for entry in parse_entries(line):
                continuation = continuation_of(entry)
                if continuation is not None:
                    prepared.append((continuation, ""))
                prepared.extend(map(self._prepare, read(entry)))
                parent = parent or parent_of(entry)
                cwd = cwd or cwd_of(entry)
            if end - offset >= self._chunk_bytes:
                break
        return _Chunk(end, prepared, parent, cwd)

    def _prepare(self, found: Step | Fact) -> Prepared:
        """What was found, masked, with its packed text."""
        if isinstance(found, Step):
            found = masked_step(self._masker, found)
            return found, pack(found.text)
        if isinstance(found, Summary):
            masked = masked_text(self._masker, found)
            return found if masked is found.text else found.replace(text=masked), pack(masked)
        return found, ""

    def _store(self, unread: _Unread, chunk: _Chunk, session_id: str) -> int:
        """Commit one chunk with its offset. If another process moved the cursor meanwhile, nothing is done."""
        cursor = unread.cursor
        with self._archive.transaction(durable=False):
            if read_cursor(self._archive, cursor.path) != cursor:
                return 0
            touch_session(self._archive, session_id, self._now, predecessor=chunk.parent)
            if chunk.cwd is not None:
                note_root(self._archive, cursor.session, chunk.cwd)
            writer = self._write(chunk.prepared, cursor.session, cursor.turn)
            move_cursor(self._archive, cursor.replace(offset=chunk.end, inode=unread.inode, turn=writer.turn))
        return writer.added

    def _write(self, prepared: list[Prepared], session: int, turn: int | None) -> StepWriter:
        """Write what was found, within a transaction; `turn` is the one that is open."""
        writer = StepWriter(self._archive, session, turn)
        noter = self._noter(session)
        for found, body in prepared:
            if not isinstance(found, Step):
                keep_fact(self._archive, session, found, self._now)
            elif writer.add(found, body):
                if noter is not None and writer.kept is not None:
                    noter.note(writer.kept)
                else:
                    postpone(self._archive, session, writer.last)
        if noter is not None:
            noter.flush()
        count_tool_calls(self._archive, session, writer.tool_calls)
        return writer

    def _noter(self, session: int) -> Noter | None:
        if self._postpones:
            return None
        from unified_state.capture.derive import Noter  # not where a prompt waits

        noter = Noter(self._archive, session, self._now, self._head)
        noter.note_postponed()  # by another process, since this run began
        return noter


def reader_of(session_id: str) -> Read:
    """How the entries of a session's transcript are read: the id of another host's session names the host."""
    if HOST_MARK not in session_id:
        return read_entry
    from unified_state.agents.transcripts.transcript_readers import host_reader

    return host_reader(session_id)


def keep_fact(archive: Archive, session: int, found: Fact, now: int) -> None:
    """Keep one of them, within the transaction that archives the steps."""
    match found:
        case Boundary():
            keep_boundary(archive, session, found)
        case Summary():
            compaction = keep_transcript_summary(archive, session, found)
            if compaction is not None:  # no hook told of it: it is read here, late
                from unified_state.capture.take_summary import take_in

                take_in(archive, compaction, found.text, now)
        case Delivery():
            mark_delivered(archive, found.nonces, now)
        case Continuation():
            keep_continuation(archive, session, found)


def capture_tool_file(
    archive: Archive, masker: Masker, now: int, path: str, transcript_path: str, session_id: str
) -> int:
    """Archive one such file of a session; the number of steps that are new."""
    name = os.path.basename(path)
    uuid = f"{session_id}/tool-results/{name}"
    if archive.row("SELECT 1 FROM step WHERE uuid = ? AND block = 0", uuid):
        return 0
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            text = masker.text(file.read())
    except OSError:
        return 0  # the client cleans this folder up as it likes
    stem = name.split(".", 1)[0]
    tool_use_id = stem if stem[:6] == "toolu_" else None
    step = Step(uuid=uuid, block=0, kind=TOOL_FILE, at=now, text=text, tool_use_id=tool_use_id)
    with archive.transaction(durable=False):
        session = touch_session(archive, session_id, now)
        cursor = read_cursor(archive, transcript_path)
        writer = StepWriter(archive, session, cursor.turn if cursor else None)
        writer.add(step, pack(text))
    return writer.added
