"""Archive the turns whose prompts are only kept, before a program reads the archive.

A prompt's hook may leave its prompt, and the turn after it, to the next Stop. A search in that turn must find both.
"""

from __future__ import annotations

import time

from unified_state.capture.capture_transcript import Capture
from unified_state.errors import DamagedArchiveError, StorageError
from unified_state.lib.stdlib import DatabaseError
from unified_state.memory.archive.archive import explained
from unified_state.memory.archive.sessions import recent_transcripts
from unified_state.memory.spool.hook_files import file_name, kept_prompts
from unified_state.model.hook_event import Moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace

_SECONDS = 2.0  # the hooks archive the rest
_MOST_SESSIONS = 20


def drain_spool(archive: Archive, workspace: Workspace, now: int) -> None:
    """Archive the sessions that have prompts in the spool, to the ends of their transcripts.

    Deriving items is left to the next hook. An archive that is busy is reported: what it has can be read all the same.
    """
    until, kept = time.monotonic() + _SECONDS, kept_prompts(archive.folder)
    moment = Moment(now, has_time=lambda: time.monotonic() < until)
    capture = Capture(archive, workspace.masker, moment, postpones=True)
    try:
        for cursor, session_id in recent_transcripts(archive, _MOST_SESSIONS):
            if cursor.agent is None and file_name(session_id) in kept and moment.has_time():
                _archive(capture, cursor.path, session_id, workspace)
    except (DatabaseError, StorageError) as error:
        problem = error if isinstance(error, StorageError) else explained(error, archive.path)
        if isinstance(problem, DamagedArchiveError):
            raise
        workspace.report(f"the newest turns are not archived yet: {problem}")


def _archive(capture: Capture, path: str, session_id: str, workspace: Workspace) -> None:
    try:
        capture.session(path, session_id)
    except OSError as error:
        workspace.report(f"{path} is not archived yet: {error.strerror or error}")
