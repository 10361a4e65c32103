"""The team's records on a PostgreSQL server; only this folder imports psycopg."""

from __future__ import annotations

from unified_state.errors import MissingExtraError
from unified_state.lib.package import extra_line


def check_extra() -> None:
    """Raise MissingExtraError without the extra `postgres`. Nothing of it is loaded."""
    from importlib.util import find_spec

    if find_spec("psycopg") is None:
        message = "history on PostgreSQL needs the extra `postgres`"
        raise MissingExtraError(message, extra_line("postgres"))
