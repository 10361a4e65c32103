"""A server of one version serves clients of the version before, its own and the next one, and moves on under them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import unified_state
from tests.builders import NOW, answer, prompt
from tests.contracts.contract import step, turn
from tests.extras.team.team import PROJECT, Team, found, make_database, send
from tests.postgres_server import PostgresServer
from unified_state.archive.archive import Archive
from unified_state.errors import NewerVersionError, StorageError
from unified_state.extras.team.postgres.schema import VERSION
from unified_state.extras.team.postgres.set_up_server import init_server
from unified_state.extras.team.server_states import server_states
from unified_state.extras.team.sync_server import sync
from unified_state.extras.team.team_server import TeamServer, agree
from unified_state.model.history_records import StoredStep
from unified_state.project.workspace.workspace import Workspace

_MIGRATIONS = "MIGRATIONS = (TABLES + RIGHTS + POLICIES"


@pytest.fixture
def next_version(tmp_path: Path) -> Callable[..., str]:
    """Runs Python in a copy of the package that is one version ahead: its schema has one more column."""
    package = tmp_path / "unified_state"
    shutil.copytree(unified_state.__path__[0], package, ignore=shutil.ignore_patterns("__pycache__"))
    schema = package / "extras/team/postgres/schema.py"
    column = f"{_MIGRATIONS}, 'ALTER TABLE unified_state.record ADD COLUMN weather text NOT NULL DEFAULT 1')"
    text = schema.read_text().replace("\nVERSION = 1", "\nVERSION = 2").replace(f"{_MIGRATIONS},)", column)
    schema.write_text(text)

    def run(program: str, *, serves_from: int = 1) -> str:
        schema.write_text(text.replace("\nSERVES_FROM = 1", f"\nSERVES_FROM = {serves_from}"))
        given = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
        imported = (
            "from tests.contracts.contract import turn; from tests.extras.team.team import found, send;"
            "from unified_state.extras.team.postgres.record_store import TeamStore;"
            "from unified_state.extras.team.postgres.set_up_server import init_server;"
        )
        return subprocess.check_output([sys.executable, "-c", imported + program], env=given, cwd=tmp_path).decode()

    return run


@pytest.fixture
def own_team(postgres: PostgresServer) -> Iterator[Team]:
    """A team in a database whose schema the test changes."""
    with ExitStack() as stack:
        yield Team(postgres, make_database(postgres), stack)


def sending(team: Team, number: int) -> str:
    """A program that sends a turn as ada, and prints how many of its steps are new."""
    store = f"TeamStore(found({team.dsn('ada')!r}), {team.organisation!r}, {PROJECT!r}, begins=True)"
    return f"print(send({store}, *turn({number}), archive='desktop'))"


def test_a_client_of_the_next_version_uses_a_server_of_this_one_and_the_other_way_round(
    own_team: Team, next_version: Callable[..., str]
) -> None:
    team = own_team
    many = len(turn(1))
    assert send(team.open("ada"), *turn(1)) == many
    assert next_version(sending(team, 50)) == f"{many}\n"
    migrated = next_version(f"print(init_server(found({team.postgres.dsn(team.database, 'postgres')!r}))['schema'])")
    assert migrated.startswith("version 2 was migrated from 1")
    assert send(team.open("ada"), *turn(100), first=9) == many
    assert next_version(sending(team, 150)) == f"{many}\n"
    assert init_server(team.administrator)["schema"].startswith("version 2 is there")  # by who has not updated yet
    store = team.open("bob")
    assert len(store.candidates("'test'", {"'test'": 1.0}, None, 99)) == store.count_words(["'test'"])[1][0] >= 4
    assert len([one for one in team.open("ada").own_records() if isinstance(one, StoredStep)]) == 4 * many


def test_a_server_of_many_records_moves_on_while_clients_append(
    own_team: Team, next_version: Callable[..., str]
) -> None:
    team = own_team
    store = team.open("ada")
    team.superuser().execute(
        "INSERT INTO unified_state.record (project, author, id, kind, at, version, archive, body) "
        "SELECT 0, 'ada', gen_random_uuid(), 'step', n, 0, 'x', repeat('x', 500) FROM generate_series(1, 50000) AS n"
    )
    ended = threading.Event()
    marks: list[int] = []

    def append() -> None:
        while not ended.is_set() or len(marks) < 3:
            send(store, step(len(marks)), first=len(marks) + 1)
            marks.append(store.mark("laptop"))

    with ThreadPoolExecutor() as pool:
        appending = pool.submit(append)
        next_version(f"init_server(found({team.postgres.dsn(team.database, 'postgres')!r}))")
        ended.set()
        appending.result()
    assert marks == list(range(1, len(marks) + 1))
    assert len([one for one in store.own_records() if isinstance(one, StoredStep)]) == len(marks)
    assert team.superuser().execute("SELECT version FROM unified_state.server").fetchone() == (2,)


def test_a_server_that_serves_only_newer_clients_says_so_and_nothing_is_lost(
    own_team: Team, next_version: Callable[..., str], keep: Callable[..., None], workspace: Workspace, archive: Archive
) -> None:
    own_team.admit("ada")
    server = TeamServer(found(own_team.dsn("ada")), own_team.organisation, PROJECT)
    with server.open(begins=True) as store:
        agree(archive, store)
    keep(prompt(1, "first"), answer(2, "second"))
    next_version(f"init_server(found({own_team.postgres.dsn(own_team.database, 'postgres')!r}))", serves_from=2)
    with pytest.raises(NewerVersionError, match=f"serves versions from 2 on; this is {VERSION}") as newer:
        sync(workspace, server, lambda: NOW)
    assert "update unified-state" in newer.value.hint
    assert [state.waiting_steps for state in server_states(archive)] == [2]
    own_team.superuser().execute("UPDATE unified_state.server SET serves_from = 1")  # in place of an update here
    assert sync(workspace, server, lambda: NOW).complete
    with server.open() as store:
        assert [one.text for one in store.own_records() if isinstance(one, StoredStep)] == ["first", "second"]


def test_a_server_that_is_too_old_says_who_helps(own_team: Team) -> None:
    own_team.superuser().execute("UPDATE unified_state.server SET version = 0")
    with pytest.raises(StorageError) as older:
        own_team.open()
    assert "server init" in older.value.hint
