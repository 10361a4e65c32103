"""A server that lost what it was told gets it again: one that was restored from a backup, or made anew.

The backups are real copies of the database.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from tests.extras.team.team import Team, make_database
from tests.postgres_server import PostgresServer
from unified_state.model.history_records import StoredItem, StoredStep

from .product import Project, told_in_one_line
from .test_team_server import REMOTE, speak, switch_on


class Database(Team):
    """A team in a database that can be backed up and restored."""

    def back_up(self) -> str:
        """Copy it; the name of the copy."""
        copy = f"{self.database}_{uuid4().hex[:6]}"
        self.postgres.cut_off(self.database)
        self._run(f"CREATE DATABASE {copy} TEMPLATE {self.database}")
        for role in (f'"unified_state:{self.organisation}"', "unified_state"):
            self._run(f"GRANT CONNECT ON DATABASE {copy} TO {role}")
        return copy

    def restore(self, backup: str) -> None:
        """Let a copy take its place."""
        self.postgres.cut_off(self.database)
        self._run(f"DROP DATABASE {self.database}")
        self._run(f"ALTER DATABASE {backup} RENAME TO {self.database}")

    def only_reads(self) -> None:
        """Let it take nothing, as a standby."""
        self._run(f"ALTER DATABASE {self.database} SET default_transaction_read_only = on")

    def texts(self) -> list[str]:
        """What steps and items of ada it holds."""
        with self.open("ada", begins=False) as store:
            kept = list(store.own_records())
        texts = [one.text for one in kept if isinstance(one, StoredStep)]
        return texts + [str(one.body["decision"]) for one in kept if isinstance(one, StoredItem)]

    def _run(self, statement: str) -> None:
        with self.postgres.admin() as connection:
            connection.execute(statement)


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    """A database of the test's own."""
    with ExitStack() as stack:
        made = Database(postgres, make_database(postgres), stack)
        made.admit("ada")
        yield made


@pytest.fixture
def project(
    project: Project, git: Callable[..., str], write_settings: Callable[[str], None], database: Database, tmp_path: Path
) -> Project:
    """A clone of the team's repository, whose server that is, and which sent a first session there."""
    git("remote", "add", "origin", REMOTE)
    write_settings(
        f'postgres_enabled = true\npostgres_dsn = "{database.dsn("ada")}"\n'
        f'postgres_organisation = "{database.organisation}"\n'
    )
    speak(project, tmp_path / "s1.jsonl", "the launch code is 0000")
    switch_on(project)
    return project


def test_a_server_that_was_restored_from_a_backup_gets_what_came_since_and_loses_what_was_forgotten_since(
    project: Project, database: Database, tmp_path: Path
) -> None:
    backup = database.back_up()
    project.ask("forget", "--match", "launch code", "--yes")
    speak(project, tmp_path / "s3.jsonl", "since it was never warmed")
    project.decide("Warm the cache")
    assert project.ask("sync")["again"] is False
    before = database.texts()
    database.restore(backup)
    assert "the launch code is 0000" in database.texts()
    again = project.ask("sync")
    assert (again["again"], again["complete"]) == (True, True)
    assert sorted(database.texts()) == sorted(before)
    assert project.ask("sync") == {**again, "again": False, "told": 0, "new": 0}


def test_a_standby_that_lags_behind_is_no_reason_to_send_everything_again(
    project: Project, database: Database, tmp_path: Path
) -> None:
    standby = database.back_up()
    speak(project, tmp_path / "s2.jsonl", "why is the cache cold")
    project.ask("sync")
    primary = database.back_up()
    database.restore(standby)
    database.only_reads()
    assert told_in_one_line(project.run("sync"))
    assert project.ask("status")["servers"][0]["waitingSteps"] == 0
    database.restore(primary)
    assert project.ask("sync")["again"] is False


def test_an_archive_that_was_restored_from_a_backup_goes_on_where_that_was(
    project: Project, database: Database, tmp_path: Path
) -> None:
    shutil.copy(project.archive, tmp_path / "backup.db")
    project.decide("Warm the cache")
    project.ask("sync")
    shutil.copy(tmp_path / "backup.db", project.archive)
    project.decide("Keep it warm")
    assert project.ask("sync")["again"] is False
    project.decide("Let it cool")
    assert project.ask("sync")["new"] == 1
    assert "Keep it warm" in database.texts()
