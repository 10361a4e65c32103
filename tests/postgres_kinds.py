"""The PostgreSQL servers that the tests know: the bundled one, the oldest that we promise, and Debian's.

With UNIFIED_STATE_TEST_FULL=1 tests use the others too. They skip where one is not installed; with
UNIFIED_STATE_REQUIRE_OLDER_SERVERS=1, as in continuous integration, that is a failure.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.amount import amount

_REQUIRED = "UNIFIED_STATE_REQUIRE_OLDER_SERVERS"
_ROOT = Path(__file__).parents[1]
BUNDLED = "bundled"
# Where a kind's programs lie, and how they come there.
_OTHERS = {
    "oldest": (_ROOT, ".venv/postgresql-14/**/native/bin", "make .venv/postgresql-14/installed"),
    "debian": (Path("/usr/lib/postgresql"), "*/bin", "apt-get install postgresql"),
}
on_every_server = pytest.mark.parametrize(
    "postgres", amount([BUNDLED, *_OTHERS], [BUNDLED]), indirect=True, scope="session"
)


def programs_of(kind: str = BUNDLED) -> Path | None:
    """The folder of a kind's programs; None for those that are bundled."""
    if kind == BUNDLED:
        return None
    folder, pattern, how = _OTHERS[kind]
    found = sorted(path for path in folder.glob(pattern) if (path / "postgres").exists())
    if not found:
        reason = f"there is no PostgreSQL of that kind; {how}"
        (pytest.fail if os.environ.get(_REQUIRED) == "1" else pytest.skip)(reason)
    return found[0]
