"""A real server that does not take what is sent: `sync` says so in one line and fails, nothing is lost, no password is
shown or kept, and when it is mended everything goes on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.postgres_server import PostgresServer

from .namespaces import in_folder, mounted
from .product import Project, told_in_one_line
from .transcripts import Transcript

PASSWORD = "kerfuffle-4711"
# What is done to the server, what is then told, and how it is undone.
REFUSALS = {
    "another password": (
        "ALTER ROLE {user} PASSWORD 'another'",
        "authentication failed",
        "ALTER ROLE {user} PASSWORD '{password}'",
    ),
    "newer schema": (
        "INSERT INTO unified_state.version (number) VALUES (999)",
        "schema version 999",
        "DELETE FROM unified_state.version WHERE number = 999",
    ),
    "read-only": (
        "ALTER ROLE {user} SET default_transaction_read_only = on",
        "read-only",
        "ALTER ROLE {user} RESET default_transaction_read_only",
    ),
    "too slow": (
        "ALTER ROLE {user} SET statement_timeout = 1",
        "statement timeout",
        "ALTER ROLE {user} RESET statement_timeout",
    ),
    "a lock": (
        "BEGIN; UPDATE unified_state.numbering SET last = last",
        "held up: another connection holds a lock",
        "ROLLBACK",
    ),
}
# Prints how many steps the server has.
COUNT = """
import sys
from unified_state.team.postgres.postgres_store import open_postgres
with open_postgres(sys.argv[1], sys.argv[2], organisation="default", member="ada") as store:
    print(store.counts().steps)
"""

Configure = Callable[[str], None]


@pytest.fixture
def configure(write_settings: Callable[[str], None]) -> Configure:
    """Writes the user's own settings, so that they name a server."""
    return lambda dsn: write_settings(f'postgres_enabled = true\npostgres_member = "ada"\npostgres_dsn = "{dsn}"\n')


def holds(folder: Path, text: str) -> list[str]:
    """The names of the files below a folder that hold a text."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_server_that_refuses_is_told_in_one_line_and_gets_everything_later(
    project: Project, configure: Configure, postgres: PostgresServer, refusal: str
) -> None:
    given = {"user": postgres.role(PASSWORD), "password": PASSWORD}  # by SCRAM
    database = postgres.database()
    configure(postgres.dsn(database, host="127.0.0.1", **given))
    breaks, told, mends = (part.format(**given) for part in REFUSALS[refusal])
    with postgres.admin(database) as admin:
        admin.execute(f'ALTER DATABASE "{database}" OWNER TO {given["user"]}')
        project.decide("Warm the cache")
        assert project.ask("sync")["new"] == 1
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


def test_a_server_whose_disk_is_full_loses_nothing_and_goes_on_when_there_is_room(
    project: Project, configure: Configure, postgres: PostgresServer, tmp_path: Path
) -> None:
    """A server of one's own, on a disk of its own; the file `ballast` there takes up what it leaves."""
    if os.geteuid() != 0:
        pytest.skip("a namespace makes its user root, as whom PostgreSQL does not run")
    disk = postgres.folder.parent / f"disk-{os.getpid()}"  # a short path, since a socket's cannot be long
    disk.mkdir()
    dsn = f"embedded:{disk}/pg"
    configure(dsn)
    with mounted(f"mount -t tmpfs -o size=200m tmpfs {disk}") as prefix:
        full = Project(project.folder, project.home, in_folder(prefix, str(project.folder)))
        full.decide("before")
        assert full.ask("sync")["complete"]
        project.keep(_long_session(project), tmp_path / "s.jsonl")
        for spare in ("20M", "0"):  # the server starts and has no room for what is sent; it cannot even start
            fill = f"cat /dev/zero > {disk}/ballast; truncate --size=-{spare} {disk}/ballast"
            subprocess.run([*prefix, "sh", "-c", fill], stderr=subprocess.DEVNULL, check=True)
            assert told_in_one_line(done := full.run("sync")), done
            assert "No space left on device" in done.err
            assert ("does not start" in done.err) == (spare == "0")
        subprocess.run([*prefix, "rm", str(disk / "ballast")], check=True)
        assert full.ask("sync")["complete"]
        assert full.ask("sync")["told"] == 0
        name = full.ask("status")["servers"][0]["name"].split("/", 1)[1].split(" as ")[0]
        counted = full.execute([sys.executable, "-c", COUNT, dsn, name], "", {})
    assert int(counted.out) == len(project.export())


def _long_session(project: Project) -> Transcript:
    """Of texts that no compression makes much smaller."""
    written = Transcript("s", cwd=str(project.folder))
    for number in range(100):
        written.prompt(f"what is in file {number}")
        written.call("Bash", {"command": f"cat {number}"}, os.urandom(100_000).hex())
    return written
