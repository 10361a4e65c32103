"""The errors that a user can meet. Each says what happened, where, and what to do; each knows its exit code.

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
    """What was asked for makes no sense: a bad argument, an unknown ref."""

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
    """The archive itself cannot be read: it is set aside, and what was to be done is done in a new one."""


class ForeignFileError(UnifiedStateError):
    """A file to be imported cannot be used; it stays as it is, and nothing of it is taken over."""


class StorageError(UnifiedStateError):
    """Something could not be written or read: no space, no permission, a lock that did not come free."""


class AlreadyRunningError(UnifiedStateError):
    """Another process does just that now."""


class ArchiveUnavailableError(StorageError):
    """The archive itself cannot be opened or written for now; what was to go there waits beside it."""


class NewerArchiveError(NewerVersionError):
    """The archive was written by a newer version; what was to go there waits beside it."""


class ConstraintsLostError(UnifiedStateError):
    """The settings hold the hook for enforced constraints, and nothing that is left says what they were."""


class TierError(UnifiedStateError):
    """What was asked for needs SQLite, which this Python does not have."""


class MissingExtraError(UnifiedStateError):
    """A part of the product that is installed by itself is not there."""


class CompactionRefusedError(UnifiedStateError):
    """The user asked for manual compactions to be refused while the state is over its budget."""
