"""A server that lost what it was told gets it again: one that was restored from a backup, or made anew.

The backups are real copies of the database.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from tests.postgres_server import OWNER, PostgresServer
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import StoredStep
from unified_state.team.postgres.postgres_store import open_postgres

from .product import Project, told_in_one_line
from .test_team_server import PROJECT, REMOTE, speak


class Database:
    """A database that can be backed up and restored."""

    def __init__(self, postgres: PostgresServer) -> None:
        self._postgres = postgres
        self.name = postgres.database()
        self.dsn = postgres.dsn(self.name)

    def back_up(self) -> str:
        """Copy it; the name of the copy."""
        copy = f"{self.name}_{uuid4().hex[:6]}"
        self._postgres.cut_off(self.name)
        self._run(f"CREATE DATABASE {copy} TEMPLATE {self.name} OWNER {OWNER}")
        return copy

    def restore(self, backup: str) -> None:
        """Let a copy take its place."""
        self._postgres.cut_off(self.name)
        self._run(f"DROP DATABASE {self.name}")
        self._run(f"ALTER DATABASE {backup} RENAME TO {self.name}")

    def only_reads(self) -> None:
        """Let it take nothing, as a standby."""
        self._run(f"ALTER DATABASE {self.name} SET default_transaction_read_only = on")

    def texts(self, member: str = "ada") -> list[str]:
        """What steps and items of a member it holds."""
        with open_postgres(self.dsn, PROJECT, organisation="acme", member=member, own_only=True) as store:
            steps = [record.text for record in everything(store) if isinstance(record, StoredStep)]
            return steps + [str(item.body["decision"]) for item in store.items()]

    def _run(self, statement: str) -> None:
        with self._postgres.admin() as connection:
            connection.execute(statement)


@pytest.fixture
def database(postgres: PostgresServer) -> Database:
    """A database of the test's own."""
    return Database(postgres)


@pytest.fixture
def project(
    project: Project, git: Callable[..., str], write_settings: Callable[[str], None], database: Database
) -> Project:
    """A clone of the team's repository, whose server that is."""
    git("remote", "add", "origin", REMOTE)
    write_settings(
        f'postgres_enabled = true\npostgres_dsn = "{database.dsn}"\n'
        'postgres_organisation = "acme"\npostgres_member = "ada"\n'
    )
    return project


def test_a_server_that_was_restored_from_a_backup_gets_what_came_since_and_loses_what_was_forgotten_since(
    project: Project, database: Database, tmp_path: Path
) -> None:
    speak(project, tmp_path / "s1.jsonl", "the launch code is 0000")
    speak(project, tmp_path / "s2.jsonl", "why is the cache cold")
    project.ask("sync")
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


def test_what_others_sent_to_it_before_one_s_own_sync_hides_nothing(
    project: Project, database: Database, tmp_path: Path
) -> None:
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold")
    project.ask("sync")
    backup = database.back_up()
    speak(project, tmp_path / "s2.jsonl", "since it was never warmed")
    project.ask("sync")
    database.restore(backup)
    with open_postgres(database.dsn, PROJECT, organisation="acme", member="bob") as other:
        other.append([StoredStep(f"u{n}", 0, "prompt", 1, "hello", session_id=f"s{n}") for n in range(1_000)])
    assert project.ask("sync")["again"] is True
    assert "since it was never warmed" in database.texts()


def test_a_server_that_was_made_anew_gets_everything(project: Project, database: Database, tmp_path: Path) -> None:
    empty = database.back_up()
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold")
    project.decide("Warm the cache")
    project.ask("sync")
    before = database.texts()
    database.restore(empty)
    done = project.run("sync")
    assert (done.code, done.err) == (0, "")
    assert "it lost records that it had confirmed, so all are sent again; " in done.out
    assert database.texts() == before


def test_what_is_sent_again_in_several_runs_is_begun_anew_once(
    project: Project, database: Database, tmp_path: Path
) -> None:
    empty = database.back_up()
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold")
    project.decide("Warm the cache")
    project.ask("sync")
    before = database.texts()
    database.restore(empty)
    runs = [project.ask("sync", "--limit", "1") for _ in range(6)]
    assert [run["again"] for run in runs] == [True, False, False, False, False, False]
    assert runs[-1]["complete"]
    assert database.texts() == before


def test_a_standby_that_lags_behind_is_no_reason_to_send_everything_again(
    project: Project, database: Database, tmp_path: Path
) -> None:
    standby = database.back_up()
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold")
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
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold")
    project.ask("sync")
    shutil.copy(project.archive, tmp_path / "backup.db")
    project.decide("Warm the cache")
    project.ask("sync")
    shutil.copy(tmp_path / "backup.db", project.archive)
    project.decide("Keep it warm")
    assert project.ask("sync")["again"] is False
    project.decide("Let it cool")
    assert project.ask("sync")["new"] == 1
    assert "Keep it warm" in database.texts()
