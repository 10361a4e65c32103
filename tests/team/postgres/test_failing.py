"""What is wrong with the server or its address is one clear line, with what to do, and without a secret."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contracts.contract import step, steps_of
from tests.postgres_server import PostgresServer, start_again, start_server, stop_server
from unified_state.errors import MissingExtraError, NewerVersionError, SettingError, StorageError, UnifiedStateError
from unified_state.lib.package import extra_line
from unified_state.model.history_records import HistoryQuery, StoredStep
from unified_state.team.postgres import migrate_server as migrating
from unified_state.team.postgres.postgres_store import open_postgres
from unified_state.team.postgres.schema.server_migrations import SCHEMA_VERSION

if TYPE_CHECKING:
    from tests.team.postgres.conftest import OpenAs

PASSWORD = "hunter2-of-ada"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def failure(dsn: str) -> UnifiedStateError:
    with pytest.raises(UnifiedStateError) as raised:
        open_postgres(dsn, "p", organisation="acme", member="ada")
    return raised.value


@pytest.fixture
def with_password(postgres: PostgresServer) -> dict[str, str]:
    """The parameters of a role that must give a password."""
    return {"user": postgres.role(PASSWORD), "host": "127.0.0.1"}


def test_the_right_password_gets_in(postgres: PostgresServer, with_password: dict[str, str]) -> None:
    error = failure(postgres.dsn(**with_password, password=PASSWORD, dbname="postgres"))
    assert "may not make it" in error.message


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"password": f"no-{PASSWORD}"}, "password authentication failed", "check the password"),
        ({}, "no password supplied", "check the password"),
        ({"user": "nobody-here", "password": PASSWORD}, 'role "nobody-here" does not exist', "check the user"),
        ({"password": PASSWORD, "dbname": "nowhere"}, "does not exist", "CREATE DATABASE"),
        ({"password": PASSWORD, "port": "1"}, "cannot be reached", "check postgres_dsn"),
        ({"password": PASSWORD, "sslmode": "require"}, "SSL", "sslmode=disable"),
        ({"password": PASSWORD, "options": "-c nonsense=1"}, "nonsense", "check postgres_dsn"),
    ],
)
def test_a_wrong_address_is_one_line_with_a_hint_and_no_password(
    postgres: PostgresServer,
    with_password: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    given: dict[str, str],
    message: str,
    hint: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    error = failure(postgres.dsn(**{**with_password, **given}))
    assert message in error.message
    assert hint in error.hint
    assert "\n" not in str(error)
    told = "".join(traceback.format_exception(error)) + repr(error) + caplog.text
    assert PASSWORD not in told


def test_a_password_that_the_server_repeats_is_masked(postgres: PostgresServer) -> None:
    error = failure(postgres.dsn(user=PASSWORD, password=PASSWORD))
    assert PASSWORD not in str(error)
    assert "***" in str(error)


def test_a_dsn_without_sense_is_a_setting_error_that_does_not_quote_it() -> None:
    error = failure(f"postgresql://ada:{PASSWORD}@[h/db")
    assert isinstance(error, SettingError)
    assert PASSWORD not in "".join(traceback.format_exception(error))


def test_no_password_stands_in_the_list_of_processes_nor_in_what_an_open_store_shows(
    postgres: PostgresServer, organisation: str
) -> None:
    password = f"{PASSWORD}-{organisation}"  # other tests' makings of roles are seen too
    role = postgres.role(password)
    with open_postgres(postgres.dsn(), "p", organisation="x", member="ada"), postgres.connect() as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [role, organisation])
    dsn = postgres.dsn(user=role, password=password)
    with open_postgres(dsn, "p", organisation=organisation, member="ada") as store:
        store.append([step(1)])
        commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK)]
        shown = "".join(map(repr, vars(store).values()))
        with postgres.admin() as connection:
            rows = connection.execute("SELECT * FROM pg_stat_activity").fetchall()
    assert password.encode() not in b"".join(commands)
    assert password not in f"{shown}{rows}{store!r}"


def test_a_user_who_may_not_make_the_schema_is_told_who_can(postgres: PostgresServer) -> None:
    error = failure(postgres.dsn(postgres.database(), postgres.role()))
    assert "may not make it" in error.message
    assert "owner" in error.hint


def test_a_newer_schema_is_left_as_it_is(postgres: PostgresServer, open_as: OpenAs) -> None:
    database = postgres.database()
    open_as(dbname=database).close()
    with postgres.connect(database) as connection:
        connection.execute("INSERT INTO unified_state.version (number) VALUES (999)")
    error = failure(postgres.dsn(database))
    assert isinstance(error, NewerVersionError)
    assert f"version 999, and this unified-state knows up to {SCHEMA_VERSION}" in error.message
    assert "update unified-state" in error.hint


def test_an_older_server_is_refused(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "OLDEST", 990000)
    error = failure(postgres.dsn(postgres.database()))
    assert "too old" in error.message
    assert "99 or newer" in error.hint


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_all_text_is_refused(postgres: PostgresServer, encoding: str) -> None:
    error = failure(postgres.dsn(postgres.database(encoding=encoding, has_vectors=False)))
    assert f"is encoded in {encoding}" in error.message
    assert "ENCODING 'UTF8'" in error.hint


def test_no_environment_changes_what_text_means(open_as: OpenAs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    store = open_as()
    store.append([step(1, "日本語", session_id="日本")])
    assert steps_of(store, "日本") == [step(1, "日本語", session_id="日本")]


def test_without_the_extra_what_to_install_is_told(monkeypatch: pytest.MonkeyPatch, postgres: PostgresServer) -> None:
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    error = failure(postgres.dsn())
    assert isinstance(error, MissingExtraError)
    assert error.hint == extra_line("postgres")


def test_a_server_that_only_reads_still_tells_what_it_has(postgres: PostgresServer, open_as: OpenAs) -> None:
    open_as().append([step(1, "swordfish")])
    store = open_as(options="-c default_transaction_read_only=on")
    assert steps_of(store) == [step(1, "swordfish")]
    assert store.search(HistoryQuery("swordfish"))
    with pytest.raises(StorageError, match="read-only") as raised:
        store.append([step(2)])
    assert "primary" in raised.value.hint
    assert store.counts().steps == 1


def test_a_server_that_only_reads_and_has_no_vectors_tells_what_it_has(
    postgres: PostgresServer, open_as: OpenAs
) -> None:
    database = postgres.database(has_vectors=False)  # which it could have
    open_as(dbname=database).append([step(1)])
    assert steps_of(open_as(dbname=database, options="-c default_transaction_read_only=on")) == [step(1)]


def test_a_server_whose_disk_is_full_keeps_nothing_of_a_batch_and_says_so(
    postgres: PostgresServer, open_as: OpenAs
) -> None:
    database = postgres.database()
    store = open_as(dbname=database)
    store.append([step(1)])
    with postgres.admin(database) as connection:  # the error that it then raises, at the third step of a batch
        connection.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE disk_full USING MESSAGE = "
            "'could not extend file \"base/16384/24579\": No space left on device'; END$$; "
            "CREATE TRIGGER full_disk BEFORE INSERT ON unified_state.step FOR EACH ROW "
            "WHEN (new.body <> '' AND new.number % 3 = 0) EXECUTE FUNCTION full_disk()"
        )
    with pytest.raises(StorageError, match="No space left on device") as raised:
        store.append([step(number) for number in range(1, 10)])
    assert "free some space" in raised.value.hint
    assert steps_of(store) == [step(1)]
    with postgres.admin(database) as connection:
        connection.execute("DROP TRIGGER full_disk ON unified_state.step")
    assert store.append([step(number) for number in range(1, 10)]) == 8


def test_a_connection_that_the_server_ended_is_replaced(postgres: PostgresServer, open_as: OpenAs) -> None:
    database = postgres.database()
    store = open_as(dbname=database)
    store.append([step(1)])
    postgres.cut_off(database)
    assert store.append([step(2)]) == 1


def test_an_append_that_is_cut_off_leaves_nothing(
    postgres: PostgresServer, open_as: OpenAs, capfd: pytest.CaptureFixture[str]
) -> None:
    database = postgres.database()
    store = open_as(dbname=database)
    store.append([step(1)])

    def cut_off() -> Iterator[StoredStep]:
        yield from (step(number) for number in range(2, 50))
        postgres.cut_off(database)
        yield from (step(number) for number in range(50, 20_000))

    with pytest.raises(StorageError) as raised:
        store.append(cut_off())
    assert "nothing is lost" in raised.value.hint
    assert capfd.readouterr() == ("", "")
    assert steps_of(store) == [step(1)]
    assert store.append([step(number) for number in range(1, 100)]) == 98


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A server that the test may kill; in a short path, since a socket's cannot be long."""
    folder = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"own-{os.getpid()}"
    folder.parent.mkdir(exist_ok=True)
    server = start_server(folder)
    yield server
    stop_server(folder)
    subprocess.run(["rm", "-r", str(folder)], check=True)


def test_a_server_killed_while_appending_has_all_or_nothing_of_it(own_server: PostgresServer) -> None:
    store = open_postgres(own_server.dsn(), "p", organisation="acme", member="ada")
    store.append([step(1)])
    appended = 1
    killer = threading.Timer(0.3, stop_server, [own_server.folder])
    killer.start()
    told = ""
    while not told:
        try:
            appended += store.append([step(appended + number) for number in range(1, 301)])
        except StorageError as error:
            told = str(error)
    assert "nothing is lost" in told
    killer.join()
    start_again(own_server.folder)
    found = steps_of(store)
    assert len(found) in {appended, appended + 300}
    assert found == [step(number) for number in range(1, len(found) + 1)]
    assert store.append([step(number) for number in range(1, appended + 301)]) == appended + 300 - len(found)
    store.close()
