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
from tests.team.postgres.old_schema import OLD_VERSION, make_old
from tests.terminal import talk_at_terminal
from unified_state.team.postgres.schema.server_migrations import SCHEMA_VERSION

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
    """The name of a role that does not exist yet."""
    return f"ada_{uuid4().hex[:12]}"


def has_pgvector(postgres: PostgresServer) -> bool:
    with postgres.admin() as connection:
        return bool(connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone())


def lines_of(done: Done) -> list[str]:
    return done.out.splitlines()


def test_init_makes_database_owner_and_schema_with_nothing_archived(superuser: Administrator) -> None:
    first = lines_of(superuser.do("init"))
    assert first[0].endswith(f"{superuser.database!r} was created")
    assert first[1].endswith(f"version {SCHEMA_VERSION} was created, owned by unified_state")
    again = lines_of(superuser.do("init"))
    assert [line.split()[-3:] for line in again[:1]] == [[f"'{superuser.database}'", "is", "there"]]
    assert f"version {SCHEMA_VERSION} is there" in again[1]
    assert superuser.project.archives == []


def test_init_says_how_to_get_pgvector_where_the_server_lacks_it(superuser: Administrator) -> None:
    told = superuser.do("init").out
    assert ("search by meaning works" in told) == has_pgvector(superuser.postgres)
    if not has_pgvector(superuser.postgres):
        assert "install pgvector 0.7 or newer for PostgreSQL 15 (https://github.com/pgvector/pgvector" in told


def test_init_updates_an_older_schema(superuser: Administrator, postgres: PostgresServer) -> None:
    superuser.do("init")
    superuser.database = make_old(postgres, superuser.database)
    assert f"version {OLD_VERSION} was migrated to {SCHEMA_VERSION}" in superuser.do("init").out


def test_an_admitted_member_logs_in_with_the_password_that_no_log_and_no_statement_holds(
    superuser: Administrator, member: str, tmp_path: Path
) -> None:
    superuser.do("init")
    assert "the role" in superuser.do("admit", member, "--password-file", "-", stdin=f"{PASSWORD}\n").out
    with superuser.postgres.admin() as connection:
        connection.execute(f"GRANT with_password TO {member}")
    address = superuser.postgres.dsn(superuser.database, member, host="127.0.0.1")
    with psycopg.connect(address, password=PASSWORD) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (member,)
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
    assert f'ALTER ROLE "{member}" PASSWORD \'SCRAM-SHA-256$' in log
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
        row = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s", [member]).fetchone()
    assert row == (None,)


_PASSWORDS = "SELECT rolname, rolpassword FROM pg_authid WHERE rolname = ANY(%s) ORDER BY 1"


@pytest.fixture(params=["SUPERUSER", "CREATEROLE CREATEDB"])
def administrator(request: pytest.FixtureRequest, project: Project, postgres: PostgresServer) -> Administrator:
    """A superuser, whom row security does not bind, or an ordinary role, which owns the schema."""
    return Administrator(project, postgres, request.param)


def test_a_role_that_was_not_made_for_the_member_is_refused_and_keeps_its_password(
    administrator: Administrator, member: str
) -> None:
    """It is another organisation's member of that name, another member, an application, or was one's who left."""
    administrator.do("init")
    administrator.do("admit", member, "--organisation", "acme", "--password-file", "-", stdin=PASSWORD)
    application, left = administrator.postgres.role(), f"left_{member}"
    administrator.do("admit", left, "--organisation", "acme", "--no-password")
    with administrator.postgres.admin(administrator.database) as connection:
        connection.execute(f"DROP OWNED BY {left}; DROP ROLE {left}")
        before = connection.execute(_PASSWORDS, [[member, application, left, "bob"]]).fetchall()
    for words in (
        (member, "--organisation", "evil"),
        ("bob", "--organisation", "acme", "--role", member),
        (application, "--organisation", "acme"),
        (left, "--organisation", "evil"),
    ):
        done = administrator.run("admit", *words, "--password-file", "-", "--reset-password", stdin=NEW_PASSWORD)
        assert (done.code, f"was not made for {words[0]!r} of {words[2]!r}" in done.err) == (2, True), done
        assert f"--role {words[0]}_{words[2]}" in done.err
    with administrator.postgres.admin(administrator.database) as connection:
        assert connection.execute(_PASSWORDS, [[member, application, left, "bob"]]).fetchall() == before
        members = connection.execute("SELECT organisation, name FROM unified_state.member ORDER BY 2").fetchall()
        (is_forced,) = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE oid = 'unified_state.member'::regclass"
        ).fetchone() or (False,)
    assert (sorted(members), is_forced) == (sorted([("acme", member), ("acme", left)]), True)
    administrator.do("admit", left, "--organisation", "acme", "--no-password")  # he comes back


def test_one_person_may_use_one_role_in_two_organisations_if_the_administrator_says_so(
    superuser: Administrator, member: str
) -> None:
    superuser.do("init")
    superuser.do("admit", member, "--organisation", "acme", "--password-file", "-", stdin=PASSWORD)
    told = superuser.do("admit", member, "--organisation", "globex", "--existing-role")  # and nobody is asked
    assert "was there, and keeps its password" in told.out
    superuser.do("admit", member, "--organisation", "globex", "--read-only")  # known there from now on
    done = superuser.run("admit", member, "--no-password", "--reset-password")
    assert (done.code, "contradict" in done.err) == (2, True)


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
    administrator.do("admit", member, "--password-file", "-", stdin=PASSWORD)
    with psycopg.connect(postgres.dsn(administrator.database, member)) as connection:
        assert connection.execute("SELECT count(*) FROM unified_state.version").fetchone() == (SCHEMA_VERSION,)


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


def test_check_says_in_a_line_each_what_works_and_what_to_do(
    project: Project, superuser: Administrator, configure: Callable[[list[str]], None], member: str
) -> None:
    code, told = checks(project)
    assert (code, told["settings"][:2]) == (1, (False, "no server is configured"))
    own = ["postgres_enabled = true", f'postgres_member = "{member}"', 'postgres_organisation = "acme"']
    configure([*own, f'postgres_dsn = "{superuser.postgres.dsn("nowhere", user=superuser.name)}"'])
    code, told = checks(project)
    assert (code, 'database "nowhere" does not exist' in told["server"][1]) == (1, True)
    configure([*own, f'postgres_dsn = "{superuser.dsn()}"'])
    with superuser.postgres.admin() as connection:
        connection.execute(f"CREATE DATABASE {superuser.database}")
    code, told = checks(project)
    assert (code, told["schema"][1], told["user"][0]) == (1, "there is no schema of ours", False)
    assert "server init" in told["schema"][2]
    superuser.do("init")
    admitted = superuser.do("admit", member, "--organisation", "acme", "--password-file", "-", stdin=PASSWORD)
    assert f'postgres_dsn = "postgresql://{member}@HOST' in admitted.out
    stranger = superuser.postgres.role()
    configure([*own, f'postgres_dsn = "{superuser.postgres.dsn(superuser.database, user=stranger)}"'])
    code, told = checks(project)
    assert (code, f"server admit {member} --organisation acme" in told["member"][2]) == (1, True)
    configure([*own, f'postgres_dsn = "{superuser.postgres.dsn(superuser.database, user=member)}"'])
    code, told = checks(project)
    assert (code, [name for name, row in told.items() if not row[0]]) == (0, [])
    assert told["member"][1] == f"'{member}' is '{member}' of 'acme', and writes"
    assert told["sharing"][1] == "you read the history of 0 others; they read yours"
    assert lines_of(project.run("server", "check"))[0].startswith("ok  server")


def test_check_says_who_only_reads(
    project: Project, superuser: Administrator, configure: Callable[[list[str]], None], member: str
) -> None:
    superuser.do("init")
    superuser.do("admit", member, "--read-only", "--no-password")
    dsn = superuser.postgres.dsn(superuser.database, user=member)
    configure(["postgres_enabled = true", f'postgres_member = "{member}"', f'postgres_dsn = "{dsn}"'])
    code, told = checks(project)
    assert (code, told["member"][1]) == (0, f"'{member}' is '{member}' of 'default', and only reads")


def test_admit_says_who_loses_access_by_it(
    project: Project, superuser: Administrator, configure: Callable[[list[str]], None], member: str
) -> None:
    superuser.do("init")
    dsn = superuser.postgres.dsn(superuser.database)  # the owner's, whom all use
    with superuser.postgres.admin() as connection:
        connection.execute("ALTER ROLE unified_state LOGIN")
    configure(["postgres_enabled = true", 'postgres_member = "bob"', f'postgres_dsn = "{dsn}"'])
    project.decide("Keep it")
    project.ask("sync")
    done = superuser.do("admit", member, "--no-password")
    assert "these lost their access until you admit them: bob" in done.err
    assert "no member of" in project.run("sync").err
