"""Archive running turns before a program reads the archive: a search in a turn must find its prompt.

The prompt's hook is silent where it has nothing to add, and leaves the prompt and its turn to the turn's end.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from unified_state.archive.archive import Archive, reporting
from unified_state.capture.capture_transcript import Capture
from unified_state.model.hook_event import Moment
from unified_state.project.workspace.workspace import Workspace

_SECONDS = 2.0  # the hooks archive the rest


def archive_running_turns(
    archive: Archive, workspace: Workspace, transcripts: Iterable[tuple[str, str]], now: int
) -> None:
    """Archive these transcripts of sessions to their ends.

    Deriving items is left to the next hook. An archive that is busy is reported: what it has can be read all the same.
    """
    until = time.monotonic() + _SECONDS
    moment = Moment(now, has_time=lambda: time.monotonic() < until)
    capture = Capture(archive, workspace.masker, moment, postpones=True)
    with reporting(workspace.report, archive, "the newest turns are not archived yet"):
        for path, session_id in transcripts:
            if moment.has_time():
                _archive(capture, path, session_id, workspace)


def _archive(capture: Capture, path: str, session_id: str, workspace: Workspace) -> None:
    try:
        capture.session(path, session_id)
    except OSError as error:
        workspace.report(f"{path} is not archived yet: {error.strerror or error}")
