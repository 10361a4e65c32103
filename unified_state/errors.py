"""The errors that a user can see. Each says what happened, where, and what to do, and has an exit code.

Exit codes of the command line: 1 an expected error, 2 a usage error, 3 a bug of ours (anything that is not one of these
classes).
"""

from __future__ import annotations


class UnifiedStateError(Exception):
    """Base of all expected errors: one line of what and where, and a hint of what to do."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(UnifiedStateError):
    """The request makes no sense: a bad argument, an unknown ref."""

    exit_code = 2


class SettingError(UnifiedStateError):
    """A setting has a value that cannot be used; the message names the setting and where it was set."""


class NotFoundError(UnifiedStateError):
    """A ref, a session or a file that does not exist."""


class NewerVersionError(UnifiedStateError):
    """A file or archive was written by a newer major version; it is left as it is."""


class DamagedFileError(UnifiedStateError):
    """A file of ours cannot be read; it was or will be set aside, never overwritten."""


class DamagedArchiveError(DamagedFileError):
    """The archive itself cannot be read: it is set aside, and the work continues in a new one."""


class ForeignFileError(UnifiedStateError):
    """A file to be imported cannot be used; it stays unchanged, and none of it is imported."""


class StorageError(UnifiedStateError):
    """Something could not be written or read: no space, no permission, a lock that timed out."""


class AlreadyRunningError(UnifiedStateError):
    """Another process is doing the same right now."""


class ArchiveUnavailableError(StorageError):
    """The archive cannot be opened or written for now; new records wait in the journal beside it."""


class NewerArchiveError(NewerVersionError):
    """The archive was written by a newer version; new records wait in the journal beside it."""


class ConstraintsLostError(UnifiedStateError):
    """The settings hold the hook for enforced constraints, but the constraints themselves are lost."""


class TierError(UnifiedStateError):
    """The request needs SQLite, which this Python does not have."""


class MissingExtraError(UnifiedStateError):
    """An optional extra of the package is not installed."""


class CompactionRefusedError(UnifiedStateError):
    """A manual compaction is refused while the state is over its budget, as the user set."""
