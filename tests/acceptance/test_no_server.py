"""What the user's own settings name is no server: every command that means it says so in one line, without a word of
it, and costs nothing of one's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from uuid import uuid4

import pytest

from tests.extras.team.team import Team, make_database
from tests.postgres_server import PostgresServer

from .product import Done, Project, told_in_one_line

SECRET = "Kx9secret"
# What is configured, and what is told of it.
CONFIGURED = {
    "an unescaped password": (f"postgresql://u:p@{SECRET}@db.example.invalid/x", "is not a connection string"),
    "garbage": (SECRET, "is not a connection string"),
    "a service": (f"service={SECRET}", "names a service"),
    "nothing": ("", "names no server"),
}


def named(dsn: str) -> str:
    """Settings that name a server."""
    return f'postgres_enabled = true\npostgres_dsn = "{dsn}"\n'


def server_checks(printed: str) -> list[str]:
    """What `doctor` says of servers."""
    return [line for line in printed.splitlines() if line[4:10] == "server"]


@pytest.mark.parametrize("configured", CONFIGURED)
def test_what_is_no_server_is_told_wherever_one_would_look_for_it(
    project: Project, write_settings: Callable[[str], None], postgres: PostgresServer, configured: str
) -> None:
    team = Team(postgres, make_database(postgres), ExitStack())
    member = f"a{uuid4().hex[:8]}"
    team.admit(member, organisation="default")
    write_settings(named(team.dsn(member)))
    project.decide("Warm the cache")
    assert project.at_terminal("sync", "--on").code == 0
    assert server_checks(project.run("doctor").out)[0].startswith("ok ")
    dsn, told = CONFIGURED[configured]
    write_settings(named(dsn))
    project.decide("Keep it warm")
    status, doctor = project.run("status"), project.run("doctor")
    (line, *_) = [line for line in status.out.splitlines() if line.startswith("server")]
    assert told in line
    assert told in (project.ask("status")["serverProblem"] or "")
    bad, old = server_checks(doctor.out)
    assert (bad[:3], told in bad, old.endswith("not in use any more"), doctor.code) == ("BAD", True, True, 1)
    done = project.run("sync")
    assert told_in_one_line(done), done
    assert told in done.err
    health = project.run("status")
    assert f"health     sync failed just now: postgres_dsn {told}" in health.out
    shown = (status, doctor, done, health, project.run("search", "--team", "warm"))
    assert SECRET not in "".join(end.out + end.err for end in shown)
    holding = [path.name for path in project.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert holding in ([], ["config.toml"])


NAMELESS = """
import os, pwd, sys
named = {account.pw_uid for account in pwd.getpwall()}
nobody = next(uid for uid in range(70_000, 1_000_000) if uid not in named)
os.getuid = lambda: nobody  # as in a container that is given any number
from unified_state.interfaces.cli.main import main
main(sys.argv[1:])
"""


def test_an_account_without_an_entry_is_told_that_its_server_does_not_count(
    project: Project, write_settings: Callable[[str], None]
) -> None:
    """Nothing says that its home is its own, so what is set there may send nothing anywhere."""
    write_settings('postgres_enabled = true\npostgres_dsn = "postgresql://ada@127.0.0.1:1/x"\n')
    project.decide("Warm the cache")

    def run(*arguments: str) -> Done:
        return project.execute((sys.executable, "-c", NAMELESS, *arguments), "", {})

    for command in (("sync",), ("export", "--full", "everything.jsonl", "--from", "server")):
        done = run(*command)
        assert done.code == 1
        assert "postgres_dsn is ignored" in done.err
    found = run("search", "--team", "warm")
    assert (found.code, "D1" in found.out) == (0, True), found
