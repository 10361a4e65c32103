"""Mending: a damaged archive is set aside, and a new one begins with what the state file shows.

Invariant: nobody sees the new archive before it has that, so that no session and no tool call meets an empty one.
"""

from __future__ import annotations

from unified_state.errors import ArchiveUnavailableError, StorageError, UnifiedStateError
from unified_state.lib.times import current_time
from unified_state.memory.repository.health import ARCHIVE, HookRun, note_run
from unified_state.memory.state_file.adopt import adopt_file
from unified_state.memory.workspace.damaged_archive import set_aside_if_damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.errors import DamagedArchiveError
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.place import Place
    from unified_state.memory.secrets.masker import Masker

    Report = Callable[[str], None]


def begin_anew(
    place: Place, masker: Masker, error: DamagedArchiveError, report: Report, salvage_seconds: float | None = None
) -> None:
    """Begin a new archive in the place of a damaged one, unless another process just did. Rows of the damaged one are
    copied for at most `salvage_seconds`. Raises ArchiveUnavailableError where that one cannot be set aside.
    """
    try:
        aside = set_aside_if_damaged(
            place.archive_path, lambda archive: refill(archive, place, masker, report), salvage_seconds
        )
    except (OSError, StorageError) as reason:
        message = f"{error.message}, and it cannot be set aside: {getattr(reason, 'message', reason)}"
        raise ArchiveUnavailableError(message, "make its folder writable") from reason
    if aside is not None:
        told = f"{error.message}; it was set aside as {aside}; `unified-state ingest` reads the transcripts again"
        _tell_next_sessions(place, told, report)
        report(told)


def refill(archive: Archive, place: Place, masker: Masker, report: Report, *, only_ours: bool = False) -> None:
    """Take what the state file shows into an archive that has just begun."""
    try:
        adopt_file(archive, place, masker, current_time(), only_ours=only_ours)
    except UnifiedStateError as error:
        report(f"the new archive does not have what the state file shows: {error}")


def _tell_next_sessions(place: Place, told: str, report: Report) -> None:
    try:
        note_run(place.folder, HookRun(ARCHIVE, current_time(), 0, told))
    except OSError as error:
        report(f"the next sessions are not told of the damage: {error}")
