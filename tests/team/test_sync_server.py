"""A server is told everything of an archive once, whatever comes between."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.builders import (
    MINUTE,
    NOW,
    SESSION,
    answer,
    boundary,
    call,
    prompt,
    result,
    summary,
    uuid_of,
    write_transcript,
)
from unified_state.capture.capture_transcript import Capture
from unified_state.errors import AlreadyRunningError, StorageError
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.cut_outputs import Output, archive_output, note_shortened
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.history.archive_store import SqliteStore
from unified_state.memory.history.store_protocol import HistoryStore, everything
from unified_state.memory.manager import UnifiedStateManager
from unified_state.memory.repository.health import health_line
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.history_records import HistoryRecord, StoredItem, StoredLink, StoredStep, Tombstone
from unified_state.model.hook_event import Moment
from unified_state.settings import Settings
from unified_state.team.server_states import server_states
from unified_state.team.start_sync import is_run_due
from unified_state.team.sync_server import Limits, Server, Synced, sync
from unified_state.upkeep.forget.forget_refs import forget
from unified_state.upkeep.forget.prune_steps import choose_steps, prune_some
from unified_state.upkeep.forget.scan_secrets import scan

FORK = "f0f0f0f0-0000-4000-8000-00000000cafe"
Keep = Callable[..., None]
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def server_path(tmp_path: Path) -> str:
    """Where the server's history lies."""
    return str(tmp_path / "server" / "archive.db")


@pytest.fixture
def server(server_path: str) -> Server:
    """A server: any store of history that is not this archive."""
    return Server("a server", lambda: SqliteStore(server_path))


@pytest.fixture
def synced(workspace: Workspace, server: Server) -> Callable[[], Synced]:
    """Syncs the workspace with the server."""
    return lambda: sync(workspace, server, lambda: NOW)


def held(path: str) -> list[HistoryRecord]:
    """All that a store holds."""
    with SqliteStore(path) as store:
        return list(everything(store))


def texts(path: str, session: str = SESSION) -> list[str]:
    """The texts of a session's steps on the server, in order."""
    with SqliteStore(path) as store:
        return [step.text for _, step in store.steps(session, limit=10_000)]


def test_the_server_holds_what_the_archive_holds(
    keep: Keep, workspace: Workspace, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(prompt(1, "hello"), answer(2, "hi", call("t1", "Bash", command="ls")), result(3, "t1", "a.py"))
    keep(boundary(4), summary(5, "all of it"))
    manager = UnifiedStateManager(workspace=workspace)
    first = manager.add_decision("Use SQLite", "one file")
    manager.supersede_decision(first.id, "Use PostgreSQL", "a team")
    done = synced()
    assert done.complete
    here = {repr(record) for record in held(workspace.place.archive_path)}
    assert {repr(record) for record in held(server_path)} == here
    assert len(here) == done.new + 1  # the session


def test_a_second_sync_sends_nothing(keep: Keep, synced: Callable[[], Synced]) -> None:
    keep(prompt(1, "hello"))
    synced()
    assert synced() == Synced("a server", told=0, new=0, complete=True)


def test_what_came_since_is_sent(
    keep: Keep, workspace: Workspace, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(prompt(1, "hello"))
    manager = UnifiedStateManager(workspace=workspace)
    first = manager.add_decision("Use SQLite", "one file")
    synced()
    keep(prompt(2, "and on"))
    manager.supersede_decision(first.id, "Use PostgreSQL", "a team")
    synced()
    assert texts(server_path) == ["hello", "and on"]
    with SqliteStore(server_path) as store:
        statuses = {item.body["decision"]: item.status for item in store.items()}
        assert len(list(store.links())) == 1
    assert statuses == {"Use SQLite": "superseded", "Use PostgreSQL": "active"}


def test_a_fork_has_on_the_server_what_it_has_here_in_the_same_order(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(prompt(1, "hello"), answer(2, "hi"))
    keep(prompt(1, "hello"), answer(2, "hi"), prompt(3, "another way"), session=FORK)
    synced()
    assert texts(server_path, FORK) == ["hello", "hi", "another way"]
    assert texts(server_path) == ["hello", "hi"]


def test_copies_of_steps_that_the_server_has_are_sent_too(
    keep: Keep, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(*(prompt(number, f"prompt {number}") for number in range(1, 20)))
    synced()
    keep(*(prompt(number, f"prompt {number}") for number in range(5, 12)), session=FORK)
    synced()
    keep(*(prompt(number, f"prompt {number}") for number in range(1, 8)), session=FORK)
    synced()
    assert sorted(texts(server_path, FORK)) == sorted(f"prompt {number}" for number in range(1, 12))
    assert synced().told == 0


def test_a_copy_that_comes_while_the_others_are_told_is_told_too(
    keep: Keep, workspace: Workspace, archive: Archive, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(*(prompt(number, f"prompt {number}") for number in range(1, 9)))
    synced()
    keep(*(prompt(number, f"prompt {number}") for number in range(5, 9)), session=FORK)

    class Slow(SqliteStore):
        def append(self, records: Iterable[HistoryRecord]) -> int:
            given = list(records)
            if any(isinstance(record, StoredStep) for record in given):
                archive.run("INSERT OR IGNORE INTO step_copy SELECT id, 2 FROM session WHERE session_id = ?", FORK)
            return super().append(given)

    sync(workspace, Server("a server", lambda: Slow(server_path)), lambda: NOW)
    synced()
    assert sorted(texts(server_path, FORK)) == sorted(texts(workspace.place.archive_path, FORK))
    assert "prompt 2" in texts(server_path, FORK)
    assert synced().told == 0


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 8])
def test_a_run_that_is_cut_off_between_server_and_cursor_sends_nothing_twice(
    keep: Keep, workspace: Workspace, server: Server, synced: Callable[[], Synced], server_path: str, after: int
) -> None:
    keep(prompt(1, "hello"), answer(2, "hi"), boundary(3), summary(4, "all"))
    keep(prompt(1, "hello"), prompt(5, "another way"), session=FORK)
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    batches = 0

    class Cut(SqliteStore):
        def append(self, records: Iterable[HistoryRecord]) -> int:
            nonlocal batches
            added = super().append(records)
            batches += 1
            if batches > after:
                raise KeyboardInterrupt
            return added

    with suppress(KeyboardInterrupt):
        sync(workspace, server.replace(open=lambda: Cut(server_path)), lambda: NOW)
    synced()
    here = sorted(map(repr, held(workspace.place.archive_path)))
    assert sorted(map(repr, held(server_path))) == here


def test_a_limit_ends_a_run_early_and_the_next_goes_on(
    keep: Keep, workspace: Workspace, server: Server, server_path: str
) -> None:
    keep(*(prompt(number, f"prompt {number}") for number in range(1, 1200)))
    runs = [sync(workspace, server, lambda: NOW, Limits(records=500))]
    while not runs[-1].complete:
        runs.append(sync(workspace, server, lambda: NOW, Limits(records=500)))
    assert len(runs) > 2
    assert sum(run.new for run in runs) == len(texts(server_path)) == 1199


def test_what_takes_a_server_long_comes_in_small_batches(
    workspace: Workspace, archive: Archive, server_path: str
) -> None:
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    (item,) = items(workspace.place.archive_path)
    SqliteStore(archive.path, archive=archive).append([item.replace(uuid=f"uuid-{n}") for n in range(250)])
    sizes = []

    class Watched(SqliteStore):
        def append(self, records: Iterable[HistoryRecord]) -> int:
            given = list(records)
            sizes.append(len(given))
            return super().append(given)

    sync(workspace, Server("a server", lambda: Watched(server_path)), lambda: NOW)
    assert (sum(sizes), max(sizes)) == (251, 100)
    assert len(items(server_path)) == 251


@pytest.mark.parametrize("is_synced_before", [True, False])
@pytest.mark.parametrize("how", ["step", "item", "session", "text", "compaction"])
def test_what_is_forgotten_leaves_the_server(
    keep: Keep, workspace: Workspace, synced: Callable[[], Synced], server_path: str, how: str, is_synced_before: bool
) -> None:
    keep(prompt(1, "the launch code is 0000"), answer(2, "noted"), boundary(3), summary(4, "launch code 0000"))
    workspace = workspace.replace(origin="user_said")
    UnifiedStateManager(workspace=workspace).add_decision("Keep the launch code", "0000 it is")
    if is_synced_before:
        synced()
    forgotten: dict[str, dict[str, Any]] = {
        "step": {"ref": "S1"},
        "item": {"ref": "D1"},
        "session": {"session_id": SESSION},
        "text": {"text": "launch code"},
        "compaction": {"ref": "K1"},
    }
    forget(workspace, NOW + 1_000_000, **forgotten[how])
    synced()
    here = [record for record in held(workspace.place.archive_path) if not isinstance(record, StoredStep)]
    assert [record for record in held(server_path) if not isinstance(record, StoredStep)] == here
    assert texts(server_path) == texts(workspace.place.archive_path)
    assert any(isinstance(record, Tombstone) for record in here)


def test_what_is_forgotten_while_the_server_is_down_is_told_first(
    keep: Keep, workspace: Workspace, server: Server, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(prompt(1, "the launch code is 0000"))
    synced()
    forget(workspace, NOW, ref="S1")
    with pytest.raises(StorageError):
        sync(workspace, server.replace(open=down), lambda: NOW)
    keep(*(prompt(number, f"prompt {number}") for number in range(2, 800)))
    first: list[HistoryRecord] = []

    class Recording(SqliteStore):
        def append(self, records: Iterable[HistoryRecord]) -> int:
            given = list(records)
            first.extend(given[:1])
            return super().append(given)

    sync(workspace, server.replace(open=lambda: Recording(server_path)), lambda: NOW)
    assert isinstance(first[0], Tombstone)
    assert "launch code" not in "".join(texts(server_path))


@pytest.fixture
def unmasked(workspace: Workspace) -> Workspace:
    """The same workspace as a version had it that did not know this kind of secret."""
    settings = Settings()
    settings.mask_secrets = False
    return Workspace(workspace.place, settings, report=workspace.report, session_id=SESSION)


def test_a_text_that_is_masked_later_is_masked_on_the_server(
    unmasked: Workspace,
    workspace: Workspace,
    archive: Archive,
    synced: Callable[[], Synced],
    server_path: str,
    tmp_path: Path,
) -> None:
    path = write_transcript(tmp_path / "s.jsonl", prompt(1, f"use {SECRET}"), answer(2, "I will"))
    Capture(archive, unmasked.masker, Moment(NOW)).session(str(path), SESSION)
    synced()
    assert SECRET in texts(server_path)[0]
    scan(workspace, fix_at=NOW + 1)
    synced()
    assert texts(server_path) == texts(workspace.place.archive_path)
    assert texts(server_path)[0].startswith("use [MASKED")
    with SqliteStore(server_path) as store:
        assert list(store.tombstones()) == []


def test_an_item_that_is_masked_later_is_masked_on_the_server(
    unmasked: Workspace, workspace: Workspace, server: Server, synced: Callable[[], Synced], server_path: str
) -> None:
    UnifiedStateManager(workspace=unmasked).add_decision(f"Use {SECRET}", "it works")
    synced()
    scan(workspace, fix_at=NOW + 1)
    sync(workspace, server, lambda: NOW + 1)
    with SqliteStore(server_path) as store:
        (item,) = store.items()
    assert "Use [MASKED" in item.body["decision"]


def test_a_changed_item_has_the_time_of_its_change_on_the_server_and_here(
    workspace: Workspace, synced: Callable[[], Synced], server: Server, server_path: str
) -> None:
    manager = UnifiedStateManager(workspace=workspace)
    first = manager.add_decision("Use SQLite", "one file")
    synced()
    manager.supersede_decision(first.id, "Use PostgreSQL", "a team")
    sync(workspace, server, lambda: NOW + 1_000 * MINUTE)
    assert items(server_path) == items(workspace.place.archive_path)


def items(path: str) -> list[StoredItem]:
    """All items of a store."""
    with SqliteStore(path) as store:
        return list(store.items())


def test_an_item_that_changed_without_saying_when_is_as_new_here_as_on_the_server(
    workspace: Workspace, archive: Archive, synced: Callable[[], Synced], server_path: str
) -> None:
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    archive.run("UPDATE item SET changed_at = '2999-01-01T00:00:00.000Z'")
    synced()
    archive.run("UPDATE item SET source_uuid = ?", uuid_of(1))
    synced()
    (item,) = items(server_path)
    assert (item.source_uuid, item.changed_at) == (uuid_of(1), "2999-01-01T00:00:00.001Z")
    assert [item] == items(workspace.place.archive_path)


def test_a_newer_version_that_comes_from_elsewhere_keeps_its_time(
    workspace: Workspace, archive: Archive, synced: Callable[[], Synced], server_path: str
) -> None:
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    synced()
    newer = items(server_path)[0].replace(origin="observed", quote="it", changed_at="2001-01-01T00:00:00.000Z")
    SqliteStore(archive.path, archive=archive).append([newer])
    synced()
    assert items(workspace.place.archive_path) == items(server_path) == [newer]


def test_an_item_that_came_with_another_name_is_on_the_server_as_it_is_here(
    workspace: Workspace, archive: Archive, synced: Callable[[], Synced], server_path: str
) -> None:
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    synced()
    SqliteStore(archive.path, archive=archive).append([items(server_path)[0].replace(uuid="UP/per-Case")])
    synced()
    assert items(server_path) == items(workspace.place.archive_path)
    assert [item.alias for item in items(server_path)] == ["D1", "D2"]


def test_links_between_items_of_any_name_are_told(
    archive: Archive, synced: Callable[[], Synced], server_path: str
) -> None:
    link = StoredLink("a/b", "c", "supersedes", "2026-01-01T00:00:00.000Z")
    SqliteStore(archive.path, archive=archive).append([link])
    synced()
    with SqliteStore(server_path) as store:
        assert list(store.links()) == [link]


def test_an_output_that_was_shortened_is_there_once_when_its_entry_is_met(
    workspace: Workspace, archive: Archive, keep: Keep, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(prompt(1, "run it"))
    whole = "".join(f"line {number}\n" for number in range(400))
    output = Output("t1", None, NOW, whole, 7)
    session = session_number(archive, SESSION)
    assert session is not None
    with archive.transaction():
        number = archive_output(archive, session, SESSION, output)
        shown = f"[S{number}: 400 lines, shown 1; recall S{number}]\nline 0"
        note_shortened(archive, session, number, output, level=2, shown=len(shown))
    synced()
    assert texts(server_path) == ["run it", whole]
    keep(answer(2, call("t1", "Bash", command="./walk.sh")), result(3, "t1", shown))
    synced()
    assert texts(server_path) == texts(workspace.place.archive_path)
    with SqliteStore(server_path) as store:
        assert [step.uuid for _, step in store.steps(SESSION)] == [uuid_of(1), uuid_of(2), uuid_of(3)]


def test_a_server_that_is_down_loses_nothing_and_is_visible(
    keep: Keep, workspace: Workspace, archive: Archive, server: Server, synced: Callable[[], Synced]
) -> None:
    keep(prompt(1, "hello"))
    for _ in range(2):
        with pytest.raises(StorageError):
            sync(workspace, server.replace(open=down), lambda: NOW)
    (state,) = server_states(archive)
    assert (state.waiting_steps, state.failures, state.error) == (1, 2, "the server is down")
    assert "sync failed" in (health_line(workspace.place.folder, NOW) or "")
    synced()
    (state,) = server_states(archive)
    assert (state.waiting_steps, state.waiting_changes, state.failures, state.error) == (0, 0, 0, None)
    assert health_line(workspace.place.folder, NOW) is None


def test_a_server_that_was_never_reached_is_forgotten_when_another_one_is(
    keep: Keep, workspace: Workspace, archive: Archive, server: Server, synced: Callable[[], Synced]
) -> None:
    keep(prompt(1, "hello"))
    with pytest.raises(StorageError):
        sync(workspace, Server("a misspelt server", down), lambda: NOW)
    synced()
    assert [state.name for state in server_states(archive)] == ["a server"]


def test_no_password_is_kept_of_an_error(workspace: Workspace, archive: Archive, server: Server) -> None:
    def refuse() -> HistoryStore:
        message = f"postgresql://me:{SECRET}@host/db refused"
        raise StorageError(message)

    with pytest.raises(StorageError):
        sync(workspace, server.replace(open=refuse), lambda: NOW)
    (state,) = server_states(archive)
    assert SECRET not in repr(state)


def test_one_run_at_a_time_works_on_an_archive(workspace: Workspace, server: Server) -> None:
    def again() -> HistoryStore:
        sync(workspace, server, lambda: NOW, Limits(wait=0))
        raise AssertionError

    with pytest.raises(AlreadyRunningError):
        sync(workspace, server.replace(open=again), lambda: NOW)


def test_after_failures_runs_in_the_background_pause_longer_and_longer(
    workspace: Workspace, archive: Archive, server: Server
) -> None:
    pauses = []
    now = NOW
    for _ in range(9):
        with pytest.raises(StorageError):
            sync(workspace, server.replace(open=down), partial(int, now))
        begin, now = now, now + MINUTE
        while not is_run_due(archive, now):
            now += MINUTE
        pauses.append((now - begin) // MINUTE)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    sync(workspace, server, lambda: now)
    assert is_run_due(archive, now)


def test_an_archive_that_never_met_a_server_notes_nothing_for_one(
    keep: Keep, archive: Archive, workspace: Workspace
) -> None:
    keep(prompt(1, "hello"))
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    assert archive.rows("SELECT * FROM outbox") == []
    assert archive.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'outbox%'") == []


def test_two_servers_are_each_told_everything(
    keep: Keep, workspace: Workspace, server: Server, synced: Callable[[], Synced], server_path: str, tmp_path: Path
) -> None:
    other = str(tmp_path / "other" / "archive.db")
    keep(prompt(1, "hello"))
    synced()
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    sync(workspace, Server("another server", lambda: SqliteStore(other)), lambda: NOW)
    forget(workspace, NOW, ref="S1")
    synced()
    sync(workspace, Server("another server", lambda: SqliteStore(other)), lambda: NOW)
    assert [repr(record) for record in held(other)] == [repr(record) for record in held(server_path)]


def test_what_is_pruned_stays_on_the_server_and_what_waits_for_one_is_not_pruned(
    keep: Keep, workspace: Workspace, archive: Archive, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(prompt(1, "sent"))
    synced()
    keep(prompt(2, "waits"))
    assert choose_steps(archive, NOW + 1_000_000).steps == 1
    prune_some(archive)
    synced()
    assert texts(workspace.place.archive_path) == ["waits"]
    assert texts(server_path) == ["sent", "waits"]


def test_what_only_a_server_has_that_is_not_in_use_any_more_is_not_pruned(
    keep: Keep, workspace: Workspace, archive: Archive, synced: Callable[[], Synced], server_path: str, tmp_path: Path
) -> None:
    def unreachable() -> HistoryStore:
        message = "it cannot be reached"
        raise StorageError(message)

    keep(prompt(1, "sent"))
    synced()
    with suppress(StorageError):
        sync(workspace, Server("another server", unreachable), lambda: NOW + 1)
    assert choose_steps(archive, NOW + 1_000_000).steps == 0
    sync(workspace, Server("another server", lambda: SqliteStore(str(tmp_path / "other.db"))), lambda: NOW + 2)
    assert choose_steps(archive, NOW + 1_000_000).steps == 1


def test_a_server_that_is_met_after_a_prune_is_not_told_that_anything_was_forgotten(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], server_path: str
) -> None:
    keep(prompt(1, "old"), prompt(2, "new"))
    choose_steps(archive, NOW + 1_500)
    prune_some(archive)
    synced()
    with SqliteStore(server_path) as store:
        assert list(store.tombstones()) == []


def down() -> HistoryStore:
    """A server that cannot be reached."""
    message = "the server is down"
    raise StorageError(message)
