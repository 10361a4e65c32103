"""Write the note of a session's status line (see `status_note`)."""

from __future__ import annotations

import os
import time

from unified_state.context.window.status_note import FORMAT, client_variables, note_path
from unified_state.errors import StorageError
from unified_state.lib.files import make_room, write_note
from unified_state.lib.stdlib import SMALL_FILE, dump_json, parse_json, read_regular
from unified_state.memory.repository.place import locate, way_now
from unified_state.memory.spool.hook_files import archive_stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unified_state.memory.repository.place import Place

_SETTLED = 20_000_000  # nanoseconds; file systems keep times in steps of a few milliseconds


class NoteWriter:
    """The state of a place before a status line looks at it. Make it first, and call `write` with what was seen.

    `files` decide what the line shows, as those of the session's way do. With `has_other`, the caller has the status
    line that ours replaced.
    """

    def __init__(
        self, place: Place, cwd: str, data_dir: str, session_id: str, files: Sequence[str], *, has_other: bool
    ) -> None:
        self._archive_path, self._cwd, self._data_dir = place.archive_path, cwd, data_dir
        self._path = note_path(data_dir, session_id)
        self._way = way_now(place, cwd, data_dir, files) if self._path else None
        self._stamp = archive_stamp(place.archive_path)
        self._has_other, self._began = has_other, time.time_ns()

    def write(self, figures: dict[str, Any]) -> None:
        """Write the note, unless another process changed the archive just now: a later commit could leave the same
        stamp.
        """
        stamp = self._stamp
        if self._way is None or stamp is None or max(stamp[2], stamp[4]) + _SETTLED > self._began:
            return
        if stamp != archive_stamp(self._archive_path) or not self._finds_the_same():
            return
        known = {"format": FORMAT, "way": self._way, "variables": client_variables(), "has_other": self._has_other}
        note = {**known, "stamp": stamp, **figures}
        try:
            if not os.path.exists(self._path):
                make_room(os.path.dirname(self._path))
            write_note(self._path, dump_json(note).encode("utf-8", "surrogatepass"))
        except (OSError, StorageError):
            return  # the folder is read-only or another process cleans it; the next line opens the archive too

    def _finds_the_same(self) -> bool:
        """Return whether the folder still has this archive: its place was found before the way's files were looked
        at.
        """
        return locate(self._cwd, self._data_dir, create=False).archive_path == self._archive_path


def written_for(path: str) -> tuple[str, bool] | None:
    """Return the folder of the client for which a note was written, and whether the user has another status line; None
    without a note.
    """
    try:
        note = parse_json(read_regular(path, SMALL_FILE).decode("utf-8", "surrogatepass"))
        return str(note["way"]["cwd"]), bool(note["has_other"])
    except (OSError, ValueError, TypeError, KeyError):
        return None  # it is damaged, or of another version: the next status line writes it
