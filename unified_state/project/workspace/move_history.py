"""The history moves into the file of the other tier, once the user has changed the setting."""

from __future__ import annotations

import os

from unified_state.archive.archive import Archive, storage_error
from unified_state.archive.journal.journalled_archive import JournalledArchive
from unified_state.lib.files import FileLock, sync_folder, temporary_name


def move_history(archive_path: str, journal: str, seconds: float, *, into_journal: bool) -> None:
    """Move all of the history into the journal, or out of it. A process that is killed leaves at least one whole.

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
                target.run("VACUUM")
            os.replace(temporary, new)
            sync_folder(os.path.dirname(new))
            os.unlink(old)
    except OSError as error:
        raise storage_error(error, new) from error
