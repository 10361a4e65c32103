"""The errors that a user can see. Each message states the problem, the place and the remedy. Each class has an exit
code.

Exit codes of the command line: 1 for an expected error, 2 for a usage error, 3 for a bug (any other exception).
"""

from __future__ import annotations


class UnifiedStateError(Exception):
    """Base of all expected errors: a line with the problem and its place, and a hint with the remedy."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(UnifiedStateError):
    """The request is invalid: for example a bad argument or an unknown ref."""

    exit_code = 2


class NotAtGateError(UsageError):
    """A program or an agent tried to change a rule, or the user is not at a terminal."""


class SettingError(UnifiedStateError):
    """A setting has an unusable value. The message names the setting and where it was set."""


class NotFoundError(UnifiedStateError):
    """A ref, a session or a file that does not exist."""


class NothingArchivedError(NotFoundError):
    """There is no archive here yet."""


class NewerVersionError(UnifiedStateError):
    """A newer major version wrote this file or archive. It is not changed."""


class DamagedFileError(UnifiedStateError):
    """One of our files cannot be read. It was or will be set aside, and is never overwritten."""


class DamagedArchiveError(DamagedFileError):
    """The archive cannot be read. It is set aside, and a new archive takes over."""


class ForeignFileError(UnifiedStateError):
    """A file to be imported cannot be used. It stays unchanged, and none of it is imported."""


class StorageError(UnifiedStateError):
    """A read or write failed: for example no space, no permission, or a lock timeout."""


class AlreadyRunningError(UnifiedStateError):
    """Another process is running the same operation."""


class ArchiveUnavailableError(StorageError):
    """The archive cannot be opened or written at the moment. New records wait for it."""


class ArchiveBusyError(ArchiveUnavailableError):
    """Another process writes to the archive for long, or locks do not work there."""


class NewerArchiveError(NewerVersionError):
    """A newer version wrote the archive. New records wait for it."""


class OlderArchiveError(StorageError):
    """A build before the first release wrote the archive. It stays unchanged; new records wait for it."""


class ConstraintsLostError(UnifiedStateError):
    """The settings contain the hook for enforced constraints, but the constraints are lost."""


class MissingExtraError(UnifiedStateError):
    """An optional extra of the package is not installed."""


class CompactionRefusedError(UnifiedStateError):
    """A manual compaction is refused because the state is over its budget, as the user configured."""
