"""The schema of the archive: its tables, and the named migrations that came after the first release.

`user_version` is FIRST_VERSION plus the number of migrations. The table `migration` has the names of those applied.
"""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection

from unified_state.archive.schema.history_tables import HISTORY_TABLES
from unified_state.archive.schema.ledger_tables import LEDGER_TABLES
from unified_state.archive.schema.outbox_triggers import OUTBOX_TRIGGERS
from unified_state.errors import DamagedArchiveError, NewerArchiveError, OlderArchiveError
from unified_state.lib.package import upgrade_line
from unified_state.lib.times import current_time

Migration = Callable[[Connection], None]

APPLICATION_ID = 0x75737461  # "usta", by which `file` and people recognize the database
FIRST_VERSION = 12  # builds before the first release counted to 11
_ABSURD_VERSION = 1000

# In order. The name of a function is what the archive remembers, so a released one is neither renamed nor edited.
MIGRATIONS: tuple[Migration, ...] = ()


def migrate(connection: Connection, path: str) -> None:
    """Create the tables of a new archive, or apply the migrations that an archive lacks, in one transaction.

    Of several processes at once, one does it. Raises DamagedArchiveError, OlderArchiveError and NewerArchiveError,
    which leave the file as it is.
    """
    version = _version(connection)
    if version == newest_version():
        return
    _check(version, path)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if _version(connection) == 0:
            create_tables(connection, FIRST_VERSION)
        _apply(connection, newest_version())
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def newest_version() -> int:
    """Return the version of an archive to which all migrations were applied."""
    return FIRST_VERSION + len(MIGRATIONS)


def create_tables(connection: Connection, version: int) -> None:
    """Create the tables of a version in an empty database."""
    for statement in f"{HISTORY_TABLES}{LEDGER_TABLES}{OUTBOX_TRIGGERS}".split(";\n"):
        connection.execute(statement)
    _apply(connection, version)


def _apply(connection: Connection, version: int) -> None:
    """Apply the migrations up to a version that were not applied before."""
    applied = {name for (name,) in connection.execute("SELECT name FROM migration")}
    for migration in MIGRATIONS[: version - FIRST_VERSION]:
        if migration.__name__ not in applied:
            migration(connection)
            connection.execute("INSERT INTO migration VALUES (?, ?)", (migration.__name__, current_time()))
    connection.execute(f"PRAGMA user_version = {version}")


def _check(version: int, path: str) -> None:
    """Raise an error for the version of an archive that cannot be migrated; 0 is that of a new one."""
    if not 0 <= version < _ABSURD_VERSION:
        message = f"the archive {path} is damaged: its version is {version}"
        raise DamagedArchiveError(message, "it is set aside and begun anew")
    if 0 < version < FIRST_VERSION:
        message = f"the archive {path} has version {version}, of a build before 0.1.0, which this one does not read"
        hint = "run `export --full FILE` with that build, move the archive away, and `unified-state import FILE --own`"
        raise OlderArchiveError(message, hint)
    if version > newest_version():
        message = f"the archive {path} has version {version}; this unified-state knows up to {newest_version()}"
        raise NewerArchiveError(message, f"upgrade unified-state: {upgrade_line()}")


def _version(connection: Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
