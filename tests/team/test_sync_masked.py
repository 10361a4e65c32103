"""What is masked after it was sent is on the server as it is here, and nowhere there as it was before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from uuid import uuid4
from zlib import decompress, error

import pytest

from tests.builders import NOW, SESSION, answer, boundary, prompt, summary, write_transcript
from tests.contracts.contract import decision
from tests.postgres_server import PostgresServer
from unified_state.capture.capture_transcript import Capture
from unified_state.memory.archive.archive import Archive
from unified_state.memory.history.archive_store import SqliteStore
from unified_state.memory.history.store_protocol import everything
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.history_records import HistoryQuery, HistoryRecord, StoredCompaction, StoredStep
from unified_state.model.hook_event import Moment
from unified_state.settings import Settings
from unified_state.team.outbox import Outbox
from unified_state.team.postgres.postgres_store import PostgresStore, open_postgres
from unified_state.team.sync_server import Limits, Server, sync
from unified_state.upkeep.forget.forget_refs import forget
from unified_state.upkeep.forget.scan_secrets import scan

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
MODEL = "minilm 1"
Store = Callable[..., PostgresStore]
Said = Callable[..., None]


@pytest.fixture
def said(workspace: Workspace, archive: Archive, tmp_path: Path) -> Said:
    """Archives entries as a version did that did not know this kind of secret."""
    settings = Settings()
    settings.mask_secrets = False
    unmasked = Workspace(workspace.place, settings, report=workspace.report, session_id=SESSION)

    def archived(*entries: dict[str, object], session: str = SESSION) -> None:
        path = write_transcript(tmp_path / f"{session}.jsonl", *entries)
        Capture(archive, unmasked.masker, Moment(NOW)).session(str(path), session)

    return archived


@pytest.fixture
def organisation() -> str:
    return uuid4().hex


@pytest.fixture
def opened(postgres: PostgresServer, organisation: str) -> Store:
    """Opens the store on the server as a member."""
    return lambda member="ada": open_postgres(postgres.dsn(), "p", organisation=organisation, member=member)


@pytest.fixture
def server(opened: Store) -> Server:
    return Server("a server", opened)


def all_there_is(postgres: PostgresServer, organisation: str) -> str:
    """All rows of all tables on the server that ada may read, as text."""
    found = []
    with postgres.connect() as connection:
        for name, value in (("organisation", organisation), ("project", "p"), ("member", "ada")):
            connection.execute("SELECT set_config(%s, %s, false)", [f"unified_state.{name}", value])
        connection.execute("SELECT set_config('unified_state.wanted', '!nothing', false)")
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'unified_state'::regnamespace "
            "AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'version'"
        ).fetchall()
        for (table,) in tables:
            rows = connection.execute(f"SELECT * FROM unified_state.{table}").fetchall()
            found += [f"{table}: {[plain(value) for value in row]}" for row in rows]
    return "\n".join(found)


def plain(value: object) -> object:
    try:
        return decompress(value) if isinstance(value, bytes) else value
    except error:
        return value


def test_a_masked_step_is_on_the_server_as_it_is_here_and_its_secret_nowhere(
    said: Said, workspace: Workspace, server: Server, opened: Store, postgres: PostgresServer, organisation: str
) -> None:
    said(prompt(1, f"use {SECRET}"), answer(2, "I will"))
    said(prompt(1, f"use {SECRET}"), answer(3, "in the fork"), session="fork")
    sync(workspace, server, lambda: NOW)
    with opened() as store:
        (first,) = store.search(HistoryQuery(text="use", kind="prompt"))
        store.vectors.add(MODEL, [(first.step.uuid, 0, [1.0] * 384)])
    assert SECRET in all_there_is(postgres, organisation)
    scan(workspace, fix_at=NOW + 1)
    sync(workspace, server, lambda: NOW + 2)
    left = all_there_is(postgres, organisation)
    assert "a1B2c3" not in left
    assert "a1b2c3" not in left
    assert "step_vector" not in left
    with SqliteStore(workspace.place.archive_path) as here:
        for name in ("ada", "bob"):
            with opened(name) as store:
                for session in (SESSION, "fork"):
                    assert [step for _, step in store.steps(session)] == [step for _, step in here.steps(session)]
                (hit,) = store.search(HistoryQuery(text="masked", session_id="fork"))
                assert hit.step.text.startswith("use [MASKED")


def test_what_is_masked_after_the_clock_was_set_back_is_masked_there_too(
    archive: Archive, workspace: Workspace, server: Server, opened: Store
) -> None:
    step = StoredStep(
        "u1", 0, "prompt", NOW, f"use {SECRET}", starts_turn=True, session_id=SESSION, masked_at=NOW + 1_000
    )
    SqliteStore(archive.path, archive=archive).append([step])
    sync(workspace, server, lambda: NOW)
    scan(workspace, fix_at=NOW)
    sync(workspace, server, lambda: NOW)
    with opened() as store:
        (found,) = store.find_steps("u1")
    assert (found.text[:11], found.masked_at) == ("use [MASKED", NOW + 1_001)


@pytest.mark.parametrize("how", ["forget", "mask"])
def test_words_of_what_left_are_no_common_words_either(
    said: Said, workspace: Workspace, server: Server, postgres: PostgresServer, organisation: str, how: str
) -> None:
    said(*(prompt(number, f"prompt {number}") for number in range(1, 400)), prompt(400, f"use {SECRET}"))
    sync(workspace, server, lambda: NOW)
    assert all_there_is(postgres, organisation).count("ghp") > 2  # also among the common words
    if how == "forget":
        forget(workspace, NOW, ref="S400")
    else:
        scan(workspace, fix_at=NOW + 1)
    sync(workspace, server, lambda: NOW + 2)
    left = all_there_is(postgres, organisation)
    assert "ghp" not in left
    assert "common_word: " in left


def test_a_masked_summary_is_on_the_server_as_it_is_here(
    said: Said, workspace: Workspace, server: Server, opened: Store, postgres: PostgresServer, organisation: str
) -> None:
    said(prompt(1, "hello"), boundary(2), summary(3, f"They use {SECRET}."))
    sync(workspace, server, lambda: NOW)
    assert SECRET in all_there_is(postgres, organisation)
    scan(workspace, fix_at=NOW + 1)
    sync(workspace, server, lambda: NOW + 2)
    assert SECRET not in all_there_is(postgres, organisation)
    with opened() as store, SqliteStore(workspace.place.archive_path) as here:
        assert list(store.compactions()) == list(here.compactions())
        assert list(store.tombstones()) == []


@pytest.mark.parametrize("what", ["step", "item", "compaction"])
def test_what_came_with_a_record_and_is_forgotten_leaves_the_server(
    workspace: Workspace, archive: Archive, server: Server, postgres: PostgresServer, organisation: str, what: str
) -> None:
    records: dict[str, HistoryRecord] = {
        "step": StoredStep("u1", 0, "prompt", NOW, "hello", session_id=SESSION, unknown={"of": "swordfish"}),
        "item": decision(1, "D1", unknown={"of": "swordfish"}),
        "compaction": StoredCompaction(SESSION, "b1", NOW, summary="so far", unknown={"of": "swordfish"}),
    }
    SqliteStore(archive.path, archive=archive).append([records[what]])
    sync(workspace, server, lambda: NOW)
    assert "swordfish" in all_there_is(postgres, organisation)
    forget(workspace, NOW + 1, text="swordfish")
    sync(workspace, server, lambda: NOW + 2)
    left = all_there_is(postgres, organisation)
    assert "swordfish" not in left
    assert f"{what}: " in left


def test_what_is_masked_is_told_before_what_is_new(said: Said, workspace: Workspace) -> None:
    path = str(Path(workspace.place.archive_path).with_name("server.db"))
    server = Server("a server", lambda: SqliteStore(path))
    said(prompt(1, f"use {SECRET}"))
    sync(workspace, server, lambda: NOW)
    scan(workspace, fix_at=NOW + 1)
    said(prompt(1, f"use {SECRET}"), *(prompt(number, f"prompt {number}") for number in range(2, 50)))
    sync(workspace, server, lambda: NOW + 2, Limits(records=1))
    with SqliteStore(path) as there:
        assert [step.text[:11] for _, step in there.steps(SESSION)] == ["use [MASKED"]


def test_what_is_masked_while_it_is_on_its_way_arrives_masked(
    said: Said, workspace: Workspace, server: Server, postgres: PostgresServer, organisation: str
) -> None:
    said(prompt(1, f"use {SECRET}"))

    class MaskedMeanwhile(SqliteStore):
        def append(self, records: Iterable[HistoryRecord]) -> int:
            given = list(records)
            if any(isinstance(record, StoredStep) and SECRET in record.text for record in given):
                scan(workspace, fix_at=NOW + 1)
            return super().append(given)

    path = str(Path(workspace.place.archive_path).with_name("server.db"))
    sync(workspace, Server("another", lambda: MaskedMeanwhile(path)), lambda: NOW)
    with SqliteStore(path) as store:
        assert SECRET not in repr(list(everything(store)))


def test_an_archive_whose_triggers_are_of_an_older_version_gets_new_ones(
    said: Said, workspace: Workspace, archive: Archive, server: Server, opened: Store
) -> None:
    said(prompt(1, f"use {SECRET}"))
    sync(workspace, server, lambda: NOW)
    kept = archive.rows("SELECT name, sql FROM sqlite_schema WHERE name LIKE 'outbox%' AND type = 'trigger'")
    for name, _ in kept:
        archive.run(f"DROP TRIGGER {name}")
    archive.run("CREATE TRIGGER outbox_of_old AFTER UPDATE ON step BEGIN DELETE FROM outbox; END")
    Outbox(archive, "a server", NOW)
    now = archive.rows("SELECT name, sql FROM sqlite_schema WHERE name LIKE 'outbox%' AND type = 'trigger'")
    assert sorted(now) == sorted(kept)
    Outbox(archive, "a server", NOW)
    assert now == archive.rows("SELECT name, sql FROM sqlite_schema WHERE name LIKE 'outbox%' AND type = 'trigger'")
