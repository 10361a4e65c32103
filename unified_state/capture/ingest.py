"""Ingestion: sessions from transcript files go into the archive, a file or a whole folder of them.

Files that are named, and folders of transcripts, go into the repository of the current folder. The client's own folder
of projects holds sessions of many repositories; each of those goes where its working directory belongs, and nowhere
where that folder is gone: sessions of other projects never end up in this one unasked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256

from unified_state.archive.archive import Archive
from unified_state.capture.capture_transcript import Capture
from unified_state.errors import ForeignFileError, NotFoundError
from unified_state.hosts.transcripts.transcript_lines import (
    CHAT_END,
    TRANSCRIPT_END,
    cwd_of,
    parse_entries,
    read_lines,
    session_of,
)
from unified_state.hosts.transcripts.transcript_readers import told_by_host
from unified_state.lib.record import Record
from unified_state.model.hook_event import Moment
from unified_state.project.place import locate
from unified_state.project.workspace.workspace import Workspace
from unified_state.secrets.rules.mask import hide_secrets
from unified_state.settings import environment, load_settings

Report = Callable[[int], None]

_CHATS = "chats"  # Gemini CLI's folder
_NO_SESSIONS = ("history.jsonl", "session_index.jsonl")  # lists of prompts and of names beside an agent's sessions
_HEAD_LINES = 50  # of a transcript, in which its session and its folder are told


class Transcript(Record):
    """A transcript file: its session, the subagent that wrote it (None: the session itself), the folder it ran in."""

    path: str
    session_id: str
    agent: str | None
    cwd: str | None


class IngestResult(Record):
    """What an ingestion did: files read, steps that were new, transcripts whose folder is gone, and files and new steps
    by the worktree that they went to.
    """

    files: int
    added: int
    skipped: tuple[str, ...]
    places: dict[str, tuple[int, int]]


def find_transcripts(paths: Sequence[str]) -> list[tuple[str, bool]]:
    """The transcript files that paths name, each with whether it was found in a folder of projects. Raises
    NotFoundError.
    """
    found: list[tuple[str, bool]] = []
    for path in paths:
        if os.path.isfile(path):
            found.append((os.path.abspath(path), False))
        elif os.path.isdir(path):
            found += _in_folder(os.path.abspath(path))
        else:
            message = f"there is no file or folder {path}"
            raise NotFoundError(message, "name a transcript (*.jsonl) or a folder of them")
    return list(dict.fromkeys(found))


def ingest(workspace: Workspace, files: Iterable[tuple[str, bool]], now: int, report: Report) -> IngestResult:
    """Archive transcripts; `report` is told of the bytes of each one that is done. Raises ForeignFileError, before
    anything is archived, where one cannot be read.
    """
    added, count, skipped = 0, 0, []
    places: dict[str, tuple[int, int]] = {}
    for transcript, of_projects in [(_readable(path), of_projects) for path, of_projects in files]:
        path = transcript.path
        target = _target(workspace, transcript) if of_projects else workspace
        if target is None:
            skipped.append(path)
        else:
            new = target.use(lambda archive: _ingest_one(archive, target, transcript, now))  # noqa: B023
            before = places.get(target.place.repository.worktree, (0, 0))
            places[target.place.repository.worktree] = (before[0] + 1, before[1] + new)
            added, count = added + new, count + 1
        report(os.path.getsize(path))
    return IngestResult(count, added, tuple(skipped), places)


def read_head(path: str) -> Transcript:
    """Whose transcript a file is. Without a word in it the file's name is the session's id."""
    name = os.path.basename(path).removesuffix(TRANSCRIPT_END)
    agent = name.removeprefix("agent-") if name.startswith("agent-") else None
    session_id, cwd = None, None
    for number, (_, line) in enumerate(read_lines(path, 0, to_end=True)):
        for entry in parse_entries(line):
            told_id, told_cwd = told_by_host(entry) or (session_of(entry), cwd_of(entry))
            session_id, cwd = session_id or told_id, cwd or told_cwd
        if (session_id and cwd) or number > _HEAD_LINES:
            break
    return Transcript(path, hide_secrets(session_id or name), agent and hide_secrets(agent), cwd)


def _readable(path: str) -> Transcript:
    try:
        return read_head(path)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise ForeignFileError(message, "name files that you may read") from error


def _in_folder(folder: str) -> Iterator[tuple[str, bool]]:
    """The transcripts below a folder. Those that lie in it directly belong here, others to their own projects."""
    for at, folders, names in os.walk(folder):
        endings = (TRANSCRIPT_END, CHAT_END) if os.path.basename(at) == _CHATS else (TRANSCRIPT_END,)
        found = [
            path
            for name in sorted(names)
            if name.endswith(endings) and name not in _NO_SESSIONS
            if os.path.isfile(path := os.path.join(at, name))  # a link may lead nowhere
        ]
        folders[:] = [] if found else sorted(folders)  # what lies below a session belongs to it
        yield from ((path, at != folder) for path in found)


def _target(workspace: Workspace, transcript: Transcript) -> Workspace | None:
    """The workspace of the repository that a session ran in; None where its folder is gone."""
    if transcript.cwd == sha256(os.fsencode(workspace.place.repository.worktree)).hexdigest():
        return workspace
    if transcript.cwd is None or not os.path.isdir(transcript.cwd):
        return None
    place = locate(transcript.cwd, workspace.settings.data_dir, create=True)
    settings = load_settings(place.repository.worktree, environment(), place.repository.owner)
    if not settings.enabled:
        return None
    return workspace.replace(place=place, settings=settings, session_id=transcript.session_id)


def _ingest_one(archive: Archive, workspace: Workspace, transcript: Transcript, now: int) -> int:
    moment = Moment(now, workspace.head)
    capture = Capture(archive, workspace.masker, moment, report=workspace.report)
    own = capture.transcript(transcript.path, transcript.session_id, transcript.agent, to_end=True)
    return own if transcript.agent else own + capture.session(transcript.path, transcript.session_id)
