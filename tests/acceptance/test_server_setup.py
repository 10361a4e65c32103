"""An administrator sets a team's server up by commands: `server init`, `server admit`, `server check`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from tests.postgres_server import PostgresServer
from tests.terminal import talk_at_terminal
from unified_state.extras.team.postgres.schema import VERSION

from .product import PROGRAM, Done, Project

PASSWORD, NEW_PASSWORD = "kerfuffle: 4711 schön", "brouhaha: 0815"
# Debian's server has no pgvector, the bundled one has it.
pytestmark = pytest.mark.parametrize("postgres", ["bundled", "debian"], indirect=True, scope="session")


class Administrator:
    """A person with a role of their own on the server, whose every statement the server logs."""

    def __init__(self, project: Project, postgres: PostgresServer, rights: str) -> None:
        self.project, self.postgres, self.name = project, postgres, postgres.role()
        self.database = f"team_{uuid4().hex[:12]}"
        with postgres.admin() as connection:
            connection.execute(f"ALTER ROLE {self.name} {rights}")
            connection.execute(f"ALTER ROLE {self.name} SET log_statement = 'all'")

    def dsn(self) -> str:
        """Their own way to the database, which need not exist yet."""
        return self.postgres.dsn(self.database, self.name)

    def run(self, *arguments: str, stdin: str = "") -> Done:
        """Run `server` with arguments."""
        return self.project.run("server", *arguments, "--dsn", self.dsn(), stdin=stdin)

    def do(self, *arguments: str, stdin: str = "") -> Done:
        """Run `server`, which has to go well."""
        done = self.run(*arguments, stdin=stdin)
        assert done.code == 0, done
        return done

    def log(self) -> str:
        """What the server wrote down of everything."""
        return (self.postgres.folder / "log").read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def superuser(project: Project, postgres: PostgresServer) -> Administrator:
    return Administrator(project, postgres, "SUPERUSER")


@pytest.fixture
def member(superuser: Administrator) -> str:
    """The name of a member who does not exist yet, and of the role made for him in the organisation `default`."""
    return f"ada{uuid4().hex[:12]}"


def lines_of(done: Done) -> list[str]:
    return done.out.splitlines()


def test_init_makes_database_owner_and_schema_with_nothing_archived(superuser: Administrator) -> None:
    first = lines_of(superuser.do("init"))
    assert first[0].endswith(f"{superuser.database!r} was created")
    assert first[1].endswith(f"version {VERSION} was created, owned by unified_state")
    again = lines_of(superuser.do("init"))
    assert [line.split()[-3:] for line in again[:1]] == [[f"'{superuser.database}'", "is", "there"]]
    assert f"version {VERSION} is there" in again[1]
    assert superuser.project.archives == []


def test_an_admitted_member_logs_in_with_the_password_that_no_log_and_no_statement_holds(
    superuser: Administrator, member: str, tmp_path: Path
) -> None:
    superuser.do("init")
    assert "the role" in superuser.do("admit", member, "--password-file", "-", stdin=f"{PASSWORD}\n").out
    with superuser.postgres.admin() as connection:
        connection.execute(f"GRANT with_password TO {member}_default")
    address = superuser.postgres.dsn(superuser.database, f"{member}_default", host="127.0.0.1")
    with psycopg.connect(address, password=PASSWORD) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (f"{member}_default",)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(address, password=NEW_PASSWORD)
    path = tmp_path / "password"
    path.write_text(f"{NEW_PASSWORD}\n", encoding="utf-8")
    again = ("admit", member, "--password-file", str(path))
    assert "keeps its password" in superuser.do(*again).out
    with psycopg.connect(address, password=PASSWORD):
        pass
    assert "got a new password" in superuser.do(*again, "--reset-password").out
    with psycopg.connect(address, password=NEW_PASSWORD):
        pass
    log = superuser.log()
    assert f'ALTER ROLE "{member}_default" PASSWORD \'SCRAM-SHA-256$' in log
    assert not any(word in log for word in (PASSWORD, NEW_PASSWORD, "kerfuffle"))


def test_a_password_is_asked_for_at_the_terminal_and_not_shown(superuser: Administrator, member: str) -> None:
    superuser.do("init")
    command = [*PROGRAM, "server", "admit", member, "--dsn", superuser.dsn(), "--reset-password"]
    environment = {**os.environ, "HOME": str(superuser.project.home)}
    for typed, code in (([PASSWORD, PASSWORD], 0), ([PASSWORD, "other"], 2), (["", ""], 2)):
        talk = talk_at_terminal(command, superuser.project.folder, environment, [f"{text}\n" for text in typed])
        assert (talk.code, PASSWORD in talk.shown) == (code, False), talk.shown
    assert PASSWORD not in superuser.log()


def test_without_a_terminal_a_password_comes_from_a_file_or_there_is_none(
    superuser: Administrator, member: str
) -> None:
    superuser.do("init")
    done = superuser.run("admit", member)
    assert (done.code, "give --password-file FILE" in done.err) == (2, True)
    superuser.do("admit", member, "--no-password")
    with superuser.postgres.admin() as connection:
        row = connection.execute(
            "SELECT rolpassword FROM pg_authid WHERE rolname = %s", [f"{member}_default"]
        ).fetchone()
    assert row == (None,)


def test_who_may_not_create_roles_is_told_so_and_the_password_is_not_in_the_log(
    project: Project, superuser: Administrator, postgres: PostgresServer, member: str
) -> None:
    """What once happened to whoever followed the documentation as the owner of the database."""
    superuser.do("init")
    owner = Administrator(project, postgres, "LOGIN")
    owner.database = superuser.database
    with postgres.admin() as connection:
        connection.execute(f"GRANT unified_state TO {owner.name}")
    done = owner.run("admit", member, "--password-file", "-", stdin=PASSWORD)
    assert (done.code, "permission denied to create role" in done.err) == (1, True)
    assert "connect as an administrator" in done.err
    assert PASSWORD not in owner.log() + done.err


def test_an_administrator_who_is_no_superuser_owns_the_schema(
    project: Project, postgres: PostgresServer, member: str
) -> None:
    administrator = Administrator(project, postgres, "CREATEROLE CREATEDB")
    assert f"owned by {administrator.name}" in administrator.do("init").out
    of = f"o{uuid4().hex[:8]}"  # roles belong to the whole server, and this one has several administrators
    administrator.do("admit", member, "--organisation", of, "--password-file", "-", stdin=PASSWORD)
    with psycopg.connect(postgres.dsn(administrator.database, f"{member}_{of}")) as connection:
        assert connection.execute("SELECT version FROM unified_state.server").fetchone() == (VERSION,)
    administrator.do("remove", member, "--organisation", of)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(postgres.dsn(administrator.database, f"{member}_{of}"))


def test_a_password_in_an_argument_is_refused(project: Project, postgres: PostgresServer) -> None:
    for dsn in ("postgresql://ada:secret1@localhost/x", "host=localhost password=secret1"):
        for words in (["init"], ["admit", "ada", "--no-password"]):
            done = project.run("server", *words, "--dsn", dsn)
            assert (done.code, "visible to every user" in done.err, "secret1" in done.err) == (2, True, False)


@pytest.fixture
def configure(write_settings: Callable[[str], None]) -> Callable[[list[str]], None]:
    """Writes what `admit` printed into the member's own settings, over a socket in place of HOST."""
    return lambda lines: write_settings("\n".join(lines))


def checks(project: Project) -> tuple[int, dict[str, tuple[bool, str, str]]]:
    """What `server check` says, by name."""
    done = project.run("server", "check", "--json")
    return done.code, {row["name"]: (row["ok"], row["message"], row["hint"]) for row in json.loads(done.out)}


def test_a_team_is_set_up_and_checked_and_changed_by_commands(
    project: Project, superuser: Administrator, configure: Callable[[list[str]], None], member: str
) -> None:
    code, told = checks(project)
    assert (code, told["settings"][:2]) == (1, (False, "no server is configured"))
    configure(["postgres_enabled = true", f'postgres_dsn = "{superuser.dsn()}"'])
    code, told = checks(project)
    assert (code, "does not exist" in told["server"][1], "server init" in told["server"][2]) == (1, True, True)
    superuser.do("init")
    code, told = checks(project)
    assert (code, "is no member of" in told["server"][1]) == (1, True)
    admitted = superuser.do(
        "admit", member, "--no-password", "--organisation", "acme", "--project", "github.com/acme/a"
    )
    assert f'postgres_dsn = "postgresql://{member}_acme@HOST' in admitted.out
    dsn = superuser.postgres.dsn(superuser.database, user=f"{member}_acme")
    configure(["postgres_enabled = true", f'postgres_dsn = "{dsn}"', 'postgres_organisation = "acme"'])
    code, told = checks(project)
    assert (code, told["member"][1]) == (0, f"you are {member!r} of 'acme'")
    assert lines_of(project.run("server", "check"))[0].startswith("ok  server")
    others = ("--organisation", "acme")
    assert f"logs in as {member}_acme, only in github.com/acme/a" in superuser.do("members", *others).out
    assert superuser.run("move", "github.com/acme/a", "b", *others).code == 1
    done = superuser.run("delete-project", "github.com/acme/a", *others)
    assert (done.code, "cannot be undone" in done.err) == (2, True)
    assert "the records remain" in superuser.do("remove", member, *others).out
    assert "was removed" in superuser.do("members", *others).out
    code, told = checks(project)
    assert (code, told["server"][0]) == (1, False)
    assert superuser.run("admit", member, *others, "--no-password").code == 2
    assert "admitted" in superuser.do("admit", member, *others, "--no-password", "--again").out
