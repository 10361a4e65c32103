"""Results that were too long for the transcript: the client puts them into files of their own, which vanish with it."""

from __future__ import annotations

import os

from unified_state.lib.text.compress import pack
from unified_state.memory.archive.sessions import read_cursor, touch_session
from unified_state.memory.archive.write_steps import StepWriter
from unified_state.model.step import TOOL_FILE, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.secrets.masker import Masker


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
