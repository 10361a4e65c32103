"""Store new lines of a transcript in the archive, masked, in chunks that each commit together with their offset.

Reading, masking and compression run outside the transaction, so other sessions wait only for a commit. A killed hook
loses its current chunk at most. The next hook continues after the last committed one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import (
    keep_boundary,
    keep_continuation,
    keep_transcript_summary,
    keep_went_back,
    mark_delivered,
    place_of_entry,
)
from unified_state.archive.pending_messages import settle_messages
from unified_state.archive.session_work import replace_todos
from unified_state.archive.sessions import (
    Cursor,
    count_tool_calls,
    move_cursor,
    note_root,
    read_cursor,
    recent_transcripts,
    session_number,
    touch_session,
)
from unified_state.archive.steps import (
    last_entry_at,
    last_turns,
    queue_again,
    queue_step,
    queued_steps,
    recent_steps,
)
from unified_state.archive.write_steps import StepWriter
from unified_state.hosts.transcripts.claude_code import EntryReader
from unified_state.hosts.transcripts.transcript_lines import (
    LONGEST_LINE,
    Read,
    continuation_of,
    cwd_of,
    parent_of,
    read_lines,
    session_folder,
    subagent_transcripts,
    tool_result_files,
    whole_entries,
)
from unified_state.lib.read_files import open_regular
from unified_state.lib.record import Record
from unified_state.lib.text import pack
from unified_state.lib.times import is_past
from unified_state.model.hook_event import HOST_MARK, Moment
from unified_state.model.step import PROMPT, TOOL_FILE, Boundary, Continuation, Delivery, RewindMark, Step, Summary

if TYPE_CHECKING:
    from unified_state.secrets.masker import Masker

Fact = Boundary | Summary | Delivery | Continuation | RewindMark
Prepared = tuple[Step | Fact, str | bytes]


CHUNK_BYTES = 1 << 20
_MOST_PROMPTS = 200  # that are compared with those that a host passes
INODE_BITS = (1 << 63) - 1  # the largest inode number that SQLite stores; some file systems use larger ones


class _Unread(Record):
    """A transcript file with new content: the archive's cursor, the file's current inode, the offset to read from."""

    cursor: Cursor
    inode: int
    offset: int


class _Chunk(Record):
    """A part of a transcript.

    It has the end offset, the masked steps and facts, the parent session of a fork, and the folder in which the session
    began.
    """

    end: int
    prepared: list[Prepared]
    parent: str | None
    cwd: str | None


class Capture:
    """Archive the new steps of sessions and queue them for `capture.derive`.

    `derive` runs after each chunk, unless the capture `postpones` it to the next hook. `report` is called
    with one line for each step that nothing can be derived from. Each method returns the number of new steps, and
    `complete` is False once there was no time for all.
    """

    def __init__(
        self,
        archive: Archive,
        masker: Masker,
        moment: Moment,
        *,
        postpones: bool = False,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._archive = archive
        self._masker = masker
        self._moment = moment
        self._postpones = postpones
        self._report = report
        self.complete = True

    def session(self, transcript_path: str, session_id: str) -> int:
        """Capture a session: its transcript, its subagents' transcripts, and the separate files of long results."""
        added = self.transcript(transcript_path, session_id)
        for path, agent in subagent_transcripts(session_folder(transcript_path)):
            added += self.transcript(path, session_id, agent)
        for path in tool_result_files(session_folder(transcript_path)):
            if not self._has_time():
                break
            added += self._tool_file(path, transcript_path, session_id)
        if self.complete:
            settle_messages(self._archive, session_id, self._moment.now)
        return added

    def _has_time(self) -> bool:
        self.complete = self.complete and self._moment.has_time()
        return self.complete

    def transcript(self, path: str, session_id: str, agent: str | None = None, *, to_end: bool = False) -> int:
        """Capture new lines of a transcript file in chunks. The first chunk is always captured, the others while time
        is left.
        """
        session = session_number(self._archive, session_id)
        read = reader_of(session_id, (session and last_entry_at(self._archive, session)) or 0)
        added, is_first = 0, True
        while True:
            self._derive(session_id, path)  # includes steps that an earlier hook left in the queue
            unread = self._unread(path, session_id, agent)
            if unread is None or not (is_first or self._has_time()):
                return added
            chunk = self._read_chunk(path, unread.offset, read, to_end=to_end)
            if chunk.end == unread.offset:
                return added
            added += self._store(unread, chunk, session_id)
            del chunk  # its texts must not stay in memory while the next are read
            is_first = False

    def messages(self, messages: list[Any], session_id: str) -> int:
        """Capture a conversation that a host passes message by message, because we cannot read its transcript."""
        read = reader_of(session_id)
        prepared = [
            self._prepare(found) for message in messages if isinstance(message, dict) for found in read(message)
        ]
        if not prepared:
            return 0
        with self._archive.transaction(durable=False):
            session = touch_session(self._archive, session_id, self._moment.now)
            newest = last_turns(self._archive, session, 1)
            prepared += [(mark, "") for mark in self._reverted(session, prepared)]
            writer = self._write(prepared, session, newest[0] if newest else None)
        self._derive(session_id)
        settle_messages(self._archive, session_id, self._moment.now)
        return writer.added

    def _reverted(self, session: int, prepared: list[Prepared]) -> Iterator[RewindMark]:
        """Yield a mark if the host does not pass archived prompts any more, which stand between others: their user
        reverted them.
        """
        passed = {one.uuid: one.at for one, _ in prepared if isinstance(one, Step)}
        begin = min(passed.values(), default=0)
        prompts = (step for _, step in recent_steps(self._archive, session, _MOST_PROMPTS, (PROMPT,), _MOST_PROMPTS))
        gone = [step for step in prompts if step.uuid not in passed and "/" not in step.uuid and step.at > begin]
        later = [at for at in passed.values() if gone and at > gone[0].at]
        if later:
            yield RewindMark(at=min(later), first=gone[0].uuid)

    def catch_up(self, limit: int = 20) -> int:
        """Capture the newest sessions to their ends. A killed client ran no hook for its last lines."""
        own = [one for one in recent_transcripts(self._archive, limit) if one[0].agent is None]
        return sum(self.session(cursor.path, session_id) for cursor, session_id in own if self._has_time())

    def _unread(self, path: str, session_id: str, agent: str | None) -> _Unread | None:
        """Return the unread part of a transcript file, or None. A file that shrank or was replaced is read from its
        start.
        """
        try:
            found = os.stat(path)
        except (OSError, ValueError):  # ValueError: a path that no file system takes
            return None
        if not S_ISREG(found.st_mode):
            return None
        inode = found.st_ino & INODE_BITS
        cursor = read_cursor(self._archive, path)
        if cursor is None:
            with self._archive.transaction(durable=False):
                session = touch_session(self._archive, session_id, 0, now=self._moment.now)
                cursor = read_cursor(self._archive, path) or Cursor(path, session, agent, 0, inode, None)
                move_cursor(self._archive, cursor)
        goes_on = found.st_size >= cursor.offset and inode == cursor.inode
        offset = cursor.offset if goes_on else 0
        return _Unread(cursor, inode, offset) if offset < found.st_size else None

    def _read_chunk(self, path: str, offset: int, read: Read, *, to_end: bool) -> _Chunk:
        """Read about a megabyte of lines. A summary begins a new chunk, so that the steps before it are derived
        first.
        """
        prepared: list[Prepared] = []
        end, parent, cwd = offset, None, None
        for line_end, line in read_lines(path, offset, to_end=to_end):
            if not line:
                self._tell_too_long(path)
            entries, left = whole_entries(line)
            found = [one for entry in entries for one in read(entry)]
            if prepared and any(isinstance(one, Summary) for one in found):
                break
            end = line_end
            if left and self._report is not None:
                self._report(f"{path} has a damaged line before byte {end:,}: {left:,} characters of it are left out")
            prepared += [self._prepare(one) for one in map(continuation_of, entries) if one is not None]
            parent = parent or next(filter(None, map(parent_of, entries)), None)
            cwd = cwd or next(filter(None, map(cwd_of, entries)), None)
            del line, entries  # a long one must not stay in memory beside its steps
            prepared += map(self._prepare, found)
            if end - offset >= CHUNK_BYTES:
                break
        return _Chunk(end, prepared, self._masker.id(parent), cwd and self._masker.text(cwd))

    def _tell_too_long(self, path: str) -> None:
        """Report a text that is archived in part at most."""
        if self._report is not None:
            self._report(f"{path} has an entry of more than {LONGEST_LINE >> 20} MB: it is left out")

    def _prepare(self, found: Step | Fact) -> Prepared:
        """Return a step or fact without secrets, with its packed text."""
        if isinstance(found, Step):
            found = self._masker.step(found)
            return found, pack(found.text)
        texts = {name: value for name, value in found.as_dict().items() if isinstance(value, str)}
        found = found.replace(**{name: self._masker.id(text) for name, text in texts.items()})
        return found, pack(found.text) if isinstance(found, Summary) else ""

    def _store(self, unread: _Unread, chunk: _Chunk, session_id: str) -> int:
        """Commit one chunk with its offset; return the number of new steps, 0 if another process was faster."""
        cursor = unread.cursor
        with self._archive.transaction(durable=False):
            if read_cursor(self._archive, cursor.path) != cursor:
                return 0
            now = self._moment.now
            newest = max(
                (one.at for one, _ in chunk.prepared if isinstance(one, Step) and is_past(one.at, now)), default=0
            )
            touch_session(self._archive, session_id, newest, now=now, predecessor=chunk.parent)
            if chunk.cwd is not None:
                note_root(self._archive, cursor.session, chunk.cwd)
            writer = self._write(chunk.prepared, cursor.session, cursor.turn)
            move_cursor(self._archive, cursor.replace(offset=chunk.end, inode=unread.inode, turn=writer.turn))
        return writer.added

    def _write(self, prepared: list[Prepared], session: int, turn: int | None) -> StepWriter:
        """Write steps and facts, and queue the new steps. `turn` is the open turn. Call it in a transaction."""
        writer = StepWriter(self._archive, session, turn)
        for found, body in prepared:
            if not isinstance(found, Step):
                keep_fact(self._archive, session, found, self._moment.now, writer.turn)
            elif writer.add(found, body):
                queue_step(self._archive, session, writer.last)
        count_tool_calls(self._archive, session, writer.tool_calls)
        return writer

    def _derive(self, session_id: str, path: str = "") -> None:
        """Derive from the queue of the session that holds the transcript at a path."""
        if self._postpones:
            return
        cursor = read_cursor(self._archive, path) if path else None
        session = cursor.session if cursor else session_number(self._archive, session_id)
        if session is not None and queued_steps(self._archive, session, 1):
            from unified_state.capture.derive import derive  # not loaded while a prompt waits

            derive(self._archive, session, self._moment, self._report)

    def _tool_file(self, path: str, transcript_path: str, session_id: str) -> int:
        """Archive one file of a long result; return the number of new steps."""
        name = os.path.basename(path)
        uuid = f"{session_id}/tool-results/{name}"
        if place_of_entry(self._archive, uuid) is not None:
            return 0
        try:
            with open_regular(path) as file:
                written_at = min(self._moment.now, os.fstat(file.fileno()).st_mtime_ns // 1_000_000)
                content = file.read(LONGEST_LINE)
                if file.read(1):
                    self._tell_too_long(path)
        except OSError:
            return 0  # the client deletes these files at any time
        text = self._masker.text(content.decode("utf-8", "replace"))
        del content
        stem = name.split(".", 1)[0]
        tool_use_id = stem if stem.startswith("toolu_") else None
        step = Step(uuid=uuid, block=0, kind=TOOL_FILE, at=written_at, text=text, tool_use_id=tool_use_id)
        with self._archive.transaction(durable=False):
            session = touch_session(self._archive, session_id, written_at, now=self._moment.now)
            cursor = read_cursor(self._archive, transcript_path)
            writer = StepWriter(self._archive, session, cursor.turn if cursor else None)
            writer.add(step, pack(text))
        return writer.added


def reader_of(session_id: str, at: int = 0) -> Read:
    """Return the reader of a session's transcript. The prefix of the session id names another host. `at` is the time of
    the last entry before.
    """
    if HOST_MARK not in session_id:
        return EntryReader(at).read
    from unified_state.hosts.transcripts.transcript_readers import host_reader

    return host_reader(session_id)


def keep_fact(archive: Archive, session: int, found: Fact, now: int, turn: int | None) -> None:
    """Store a compaction, summary, delivery or rewind. `turn` is the open one. Call it in the transaction that archives
    the steps.
    """
    match found:
        case Boundary():
            keep_boundary(archive, session, found)
        case Summary():
            compaction = keep_transcript_summary(archive, session, found)
            if compaction is not None:  # no hook received this summary
                from unified_state.capture.take_summary import take_in

                take_in(archive, compaction, found.text, now)
        case Delivery():
            mark_delivered(archive, found.nonces, now)
        case Continuation():
            if keep_continuation(archive, session, found):
                _derive_again(archive, session)
        case RewindMark():
            if keep_went_back(archive, session, found, turn):
                _derive_again(archive, session)


def _derive_again(archive: Archive, session: int) -> None:
    """Drop the to-do list of a session, and queue the steps that its user did not take back."""
    replace_todos(archive, session, (), "")
    queue_again(archive, session)
