"""The history moves into the file of the other tier, once the user has changed the setting."""

from __future__ import annotations

import os

from unified_state.archive.archive import Archive, storage_error
from unified_state.archive.journal.journalled_archive import JournalledArchive
from unified_state.lib.files import FileLock, sync_folder, temporary_name

_MOVED = "moved from"  # the name of the value in the archive: the stamp of the file that it came from


def move_history(archive_path: str, journal: str, seconds: float, *, into_journal: bool) -> None:
    """Copy all of the history into the journal, or out of it. `remove_moved` ends the move. A process that is killed
    changes nothing.

    Raises what opening an archive raises.
    """
    old, new = (archive_path, journal) if into_journal else (journal, archive_path)
    temporary = temporary_name(new)
    opens = (Archive, JournalledArchive) if into_journal else (JournalledArchive, Archive)
    try:
        with FileLock(f"{journal}.lock", seconds):
            if os.path.exists(new) or not os.path.exists(old):
                return  # another process was faster
            with opens[0](old, seconds=seconds) as source, opens[1](temporary) as target:
                source.connection.backup(target.connection)
                target.set_meta(_MOVED, _stamp(old))
                target.compact()
            os.replace(temporary, new)
            sync_folder(os.path.dirname(new))
    except OSError as error:
        raise storage_error(error, new) from error


def remove_moved(archive: Archive, old: str) -> None:
    """Remove the file that this archive came from. Any other file of the other tier stays."""
    try:
        if archive.meta(_MOVED) == _stamp(old):
            os.unlink(old)
    except FileNotFoundError:
        return  # another process was faster


def _stamp(path: str) -> str:
    found = os.stat(path)
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"
