from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from unified_state.errors import SettingError
from unified_state.extras.team.postgres.server_dsn import Server, find_server

SEED = {"HOST": "h", "PORT": "5433", "DATABASE": "d", "USER": "u", "PASSWORD": "p"}
EVIL = {
    "PGHOST": "evil.example",
    "PGHOSTADDR": "203.0.113.9",
    "PGPORT": "6666",
    "PGDATABASE": "stolen",
    "PGOPTIONS": "-c search_path=evil",
    "PGSSLMODE": "disable",
    "PGCLIENTENCODING": "LATIN1",
    "RUVECTOR_HOST": "evil.example",
    "RUVECTOR_SSL": "false",
}


def find(dsn: str, environ: dict[str, str], *, trusts_environment: bool = True) -> dict[str, str]:
    return find_server(dsn, environ, trusts_environment=trusts_environment).parameters


def test_no_environment_leads_a_named_server_elsewhere() -> None:
    found = find("postgresql://ada@db.example/history", EVIL)
    assert (found["host"], found["hostaddr"], found["port"]) == ("db.example", "", "")
    assert (found["dbname"], found["options"], found["sslmode"]) == ("history", "", "require")
    assert found["client_encoding"] == "UTF8"


@pytest.mark.parametrize("variables", [{"PGHOST": "db.example"}, {"RUVECTOR_HOST": "db.example"}])
def test_the_users_own_environment_may_name_the_server(variables: dict[str, str]) -> None:
    assert find("", variables)["host"] == "db.example"


def test_the_environment_of_an_agents_client_may_not() -> None:
    with pytest.raises(SettingError, match="names no host"):
        find("dbname=history", EVIL, trusts_environment=False)


def test_a_service_is_refused_since_the_environment_could_choose_its_file() -> None:
    with pytest.raises(SettingError, match="names a service") as raised:
        find("service=history", {})
    assert "host" in raised.value.hint


def test_a_server_that_vanishes_is_not_waited_for_for_hours() -> None:
    found = find("host=h", {})
    assert int(found["keepalives_idle"]) + int(found["keepalives_interval"]) * int(found["keepalives_count"]) <= 60
    assert int(found["tcp_user_timeout"]) <= 60_000


def test_the_seeds_variables_complete_a_server() -> None:
    found = find("", {f"RUVECTOR_{name}": value for name, value in SEED.items()})
    assert [found[name] for name in ("host", "port", "dbname", "user", "password")] == list(SEED.values())


@pytest.mark.parametrize(
    ("dsn", "mode"),
    [
        ("host=db.example", "require"),
        ("host=localhost,db.example", "require"),
        ("host=localhost hostaddr=203.0.113.9", "require"),
        ("host=localhost", "prefer"),
        ("host=127.0.0.1", "prefer"),
        ("host=/run/postgresql", "prefer"),
        ("dbname=history", "prefer"),
        ("host=db.example sslmode=disable", "disable"),
        ("host=db.example sslmode=verify-full", "verify-full"),
    ],
)
def test_tls_is_asked_of_every_server_elsewhere_unless_the_dsn_says_otherwise(dsn: str, mode: str) -> None:
    assert find(dsn, {"PGSSLMODE": "allow"})["sslmode"] == mode


@pytest.mark.parametrize("variables", [{"PGSSLMODE": "require"}, {"RUVECTOR_SSL": "true"}])
def test_the_environment_can_ask_for_more_tls(variables: dict[str, str]) -> None:
    assert find("host=localhost", variables)["sslmode"] == "require"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ada:hunter2@[::1/db",
        "host=h password='hunter2",
        "hunter2",
        "passwort=hunter2",
        "postgresql://ada:hunter2@h/db?nothing=1",
        "postgresql://ada:hunter2%zz@h/db",
        "postgresql://ada:p@hunter2@h/db",
        "postgresql://ada:p@hunter2:5432/x@h/db",
        "postgresql://ada:p@x:hunter2@h/db",
        "postgresql://ada:p@x,hunter2@h/db",
        "postgresql://ada:hunter2/x@h/db",
        "postgresql://ada:12/hunter2@h/db",
        "postgresql://ada:p@/hunter2@h/db",
        "postgresql://ada:p?x@hunter2@h/db",
        "postgresql://ada:p@x:hunter2/db",
        "postgresql://ada@h%40hunter2/db",
        "host=hunter2@h password=p",
        "host='hunter2 h'",
        "host=hunter2/h",
        "host=h,hunter2@h",
        "host=@hunter2@h",
        "host=h port=hunter2",
    ],
)
def test_a_dsn_that_cannot_be_read_is_not_quoted(dsn: str) -> None:
    with pytest.raises(SettingError) as raised:
        find(dsn, {})
    assert "hunter2" not in str(raised.value)
    assert raised.value.__context__ is None or raised.value.__suppress_context__


def test_a_password_with_a_sign_of_an_address_is_told_how_to_be_written() -> None:
    with pytest.raises(SettingError, match="not a connection string") as raised:
        find("postgresql://u:p@Kx9secret@db.example.invalid/x", {})
    assert "the password in it has a sign that has to be written as %40" in raised.value.hint
    found = find("postgresql://u:p%40Kx9%2Fsecret@db.example.invalid/x", {})
    assert (found["password"], found["host"]) == ("p@Kx9/secret", "db.example.invalid")


@pytest.mark.parametrize(
    "dsn",
    [
        "host=@abstract",
        "host='/run/my postgres@home'",
        "postgresql://ada@[::1]:5432/db",
        "postgresql://%2Frun%2Fpostgresql/db",
        "postgresql://h1:5432,h2:5433/db%40home",
        "postgresql:///db?host=@abstract",
        "host=h1,h2 port=5432,",
    ],
)
def test_every_place_that_can_be_is_taken(dsn: str) -> None:
    assert find(dsn, {})["host"]


@given(st.text(), st.text("abc123", min_size=3))
def test_no_dsn_is_anything_but_read_or_refused_and_no_password_is_shown(text: str, password: str) -> None:
    for dsn in (text, "host=h " + text):
        with suppress(SettingError):
            find_server(dsn, {}, trusts_environment=True)
    server = find_server("host=h user=u", {"PGPASSWORD": "~" + password}, trusts_environment=True)
    assert "~" + password not in f"{server} {server!r} {server.scrubbed(f'it was ~{password}')}"


def test_where_a_server_is_can_be_told() -> None:
    server = find_server("postgresql://ada:hunter2@db.example:5433/history", {}, trusts_environment=True)
    assert str(server) == "database 'history' at db.example, port 5433"
    assert isinstance(server, Server)
    assert "hunter2" in make_conninfo(**server.parameters)


def test_a_process_without_the_extra_is_told_what_to_install() -> None:
    code = """
import sys
sys.modules["psycopg"] = None
from unified_state.settings import Settings
from unified_state.extras.team.team_server import server_problem
settings = Settings()
settings.postgres_enabled, settings.postgres_dsn = True, "postgresql://ada@db.example/history"
print(server_problem(settings, {}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "needs the extra `postgres`" in done.stdout
