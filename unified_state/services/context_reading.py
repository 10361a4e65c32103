"""How full a session's context is now, by whichever tells the newest: the client's status line, or the transcript."""

from __future__ import annotations

from unified_state.sources.last_usage import last_usage
from unified_state.storage.context import newest_cut
from unified_state.storage.usage_file import read_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.records.context import Reading
    from unified_state.storage.archive import Archive


def current_reading(
    archive: Archive, session: int, folder: str, session_id: str, transcript_path: str
) -> Reading | None:
    """The newest measurement since the conversation was last cut; the client knows the window better than we do."""
    _, cut_at = newest_cut(archive, session)
    told = read_usage(folder, session_id)
    readings = [reading for reading in (told, last_usage(transcript_path)) if reading is not None]
    usable = [reading for reading in readings if reading.tokens > 0 and reading.at >= cut_at]
    if not usable:
        return None
    newest = max(usable, key=lambda reading: reading.at)
    return newest.replace(window=told.window) if told is not None and told.window >= newest.tokens else newest
