"""A real server that does not take what is sent: `sync` says so in one line and fails, nothing is lost, no password is
shown or kept, and when it is mended everything goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.extras.team.team import Team, make_database
from tests.postgres_server import PostgresServer

from .product import Project, told_in_one_line

PASSWORD = "kerfuffle-4711"
# What is done to the server, what is then told, and how it is undone.
REFUSALS = {
    "another password": (
        "ALTER ROLE {user} PASSWORD 'another'",
        "authentication failed",
        "ALTER ROLE {user} PASSWORD '{password}'",
    ),
    "too slow": (
        "ALTER ROLE {user} SET statement_timeout = 1",
        "statement timeout",
        "ALTER ROLE {user} RESET statement_timeout",
    ),
    "a lock": (
        "ALTER ROLE {user} SET lock_timeout = '1s'; BEGIN; LOCK TABLE unified_state.record",
        "lock timeout",
        "ROLLBACK; ALTER ROLE {user} RESET lock_timeout",
    ),
    "removed": (
        'REVOKE "unified_state:{organisation}" FROM {user}',
        "cannot be",
        'GRANT "unified_state:{organisation}" TO {user}',
    ),
}


@pytest.fixture
def team(postgres: PostgresServer) -> Iterator[Team]:
    """A team in a database of its own."""
    with ExitStack() as stack:
        yield Team(postgres, make_database(postgres), stack)


def holds(folder: Path, text: str) -> list[str]:
    """The names of the files below a folder that hold a text."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_server_that_refuses_is_told_in_one_line_and_gets_everything_later(
    project: Project, write_settings: Callable[[str], None], team: Team, refusal: str
) -> None:
    user = team.admit("ada", ask_password=lambda: PASSWORD)
    given = {"user": user, "password": PASSWORD, "organisation": team.organisation}
    with team.superuser() as admin:
        admin.execute(f"GRANT with_password TO {user}")  # by SCRAM
        dsn = team.postgres.dsn(team.database, user, host="127.0.0.1", password=PASSWORD)
        write_settings(
            f'postgres_enabled = true\npostgres_dsn = "{dsn}"\npostgres_organisation = "{team.organisation}"\n'
        )
        breaks, told, mends = (part.format(**given) for part in REFUSALS[refusal])
        project.decide("Warm the cache")
        assert project.at_terminal("sync", "--on").code == 0
        admin.execute(breaks)
        project.decide("Keep it warm")
        assert told_in_one_line(done := project.run("sync")), done
        assert told in done.err
        others = [project.run(*command) for command in (("status",), ("doctor",), ("sync", "--background"))]
        found = project.run("search", "--team", "warm")
        assert (found.code, "D2" in found.out) == (0, True), found
        assert PASSWORD not in "".join(end.out + end.err for end in (done, found, *others))
        assert holds(project.home, PASSWORD) == ["config.toml"]
        admin.execute(mends)
        assert project.ask("sync")["new"] == 1
        assert project.ask("sync")["told"] == 0
