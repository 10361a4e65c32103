"""A server is told everything of an archive once, whatever comes between, and nothing before the user agreed."""

from __future__ import annotations

from collections.abc import Callable
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
from tests.extras.team.team import PROJECT, Team, found
from unified_state.archive.archive import Archive
from unified_state.archive.cut_outputs import Output, archive_output, note_shortened
from unified_state.archive.sessions import session_number
from unified_state.capture.capture_transcript import Capture
from unified_state.errors import AlreadyRunningError, StorageError, UsageError
from unified_state.extras.team.check_team import checks
from unified_state.extras.team.postgres.record_store import TeamStore
from unified_state.extras.team.rows import OutgoingRecord
from unified_state.extras.team.server_states import server_states
from unified_state.extras.team.start_sync import is_run_due
from unified_state.extras.team.sync_server import Limits, SyncResult, sync
from unified_state.extras.team.team_server import TeamServer, agree, disagree
from unified_state.model.history_records import (
    HistoryRecord,
    StoredItem,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.model.hook_event import Moment
from unified_state.project.health import health_line
from unified_state.project.workspace.workspace import Workspace
from unified_state.settings import Settings
from unified_state.state_file.manager import UnifiedStateManager
from unified_state.upkeep.doctor.diagnose import Subject
from unified_state.upkeep.forget.forget_refs import ForgetRequest, forget
from unified_state.upkeep.forget.prune_steps import choose_steps, prune_steps
from unified_state.upkeep.forget.scan_secrets import scan
from unified_state.upkeep.history.archive_changes import append as take
from unified_state.upkeep.history.archive_rows import everything

FORK = "f0f0f0f0-0000-4000-8000-00000000cafe"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
Keep = Callable[..., None]
Before = Callable[[TeamStore, list[OutgoingRecord]], None]


class Watched(TeamServer):
    """A server on the way to which something happens: before or after a batch, or when it is opened."""

    before: Before | None = None
    after: Before | None = None

    def open(self, *, begins: bool = False) -> TeamStore:
        server = self

        class Store(TeamStore):
            def append(self, batch: list[OutgoingRecord], archive: str, mark: int) -> int:
                if server.before:
                    server.before(self, batch)
                added = super().append(batch, archive, mark)
                if server.after:
                    server.after(self, batch)
                return added

        return Store(self.server, self.organisation, self.project, begins=begins)


class Down(TeamServer):
    """A server that cannot be reached."""

    def open(self, *, begins: bool = False) -> TeamStore:
        message = f"postgresql://me:{SECRET}@host/db is down ({begins})"
        raise StorageError(message)


@pytest.fixture
def server(team: Team) -> TeamServer:
    team.admit("ada")
    return TeamServer(found(team.dsn("ada")), team.organisation, PROJECT)


@pytest.fixture
def agreed(server: TeamServer, archive: Archive) -> None:
    """The user let this project's history go to the server."""
    with server.open(begins=True) as store:
        agree(archive, store)


@pytest.fixture
def synced(workspace: Workspace, server: TeamServer, agreed: None) -> Callable[[], SyncResult]:
    """Syncs the workspace with the server."""
    return lambda: sync(workspace, server, lambda: NOW)


@pytest.fixture
def held(server: TeamServer, tmp_path: Path) -> Callable[[], Archived]:
    """What the server holds, as an archive that takes it in."""
    numbers = iter(range(100))

    def read() -> Archived:
        with server.open() as store:
            return Archived(str(tmp_path / f"taken-{next(numbers)}.db"), list(store.own_records()))

    return read


class Archived:
    """The records of a store."""

    def __init__(self, path: str, records: list[HistoryRecord] | None = None) -> None:
        with Archive(path) as archive:
            if records is not None:
                take(archive, records)
            self.all = [one for one in everything(archive) if not isinstance(one, Tombstone)]

    @property
    def told(self) -> list[str]:
        return sorted(map(repr, self.all))

    @property
    def items(self) -> list[StoredItem]:
        return [one for one in self.all if isinstance(one, StoredItem)]

    def texts(self, session: str = SESSION) -> list[str]:
        return [one.text for one in self.all if isinstance(one, StoredStep) and one.session_id == session]


Held = Callable[[], Archived]


def test_nothing_goes_up_before_the_user_agreed_and_nothing_after_he_took_it_back(
    keep: Keep, workspace: Workspace, archive: Archive, server: TeamServer, team: Team, held: Held
) -> None:
    keep(prompt(1, "hello"))
    with pytest.raises(UsageError, match="nothing of this project goes to a server yet"):
        sync(workspace, server, lambda: NOW)
    with server.open(begins=True) as store:
        agree(archive, store)
    sync(workspace, server, lambda: NOW)
    assert held().texts() == ["hello"]
    assert disagree(archive)
    keep(prompt(2, "and on"))
    with pytest.raises(UsageError):
        sync(workspace, server, lambda: NOW)
    assert held().texts() == ["hello"]


def test_what_was_agreed_to_is_one_server_and_one_name(
    keep: Keep, workspace: Workspace, archive: Archive, server: TeamServer, team: Team, agreed: None
) -> None:
    from tests.extras.team.team import make_database

    keep(prompt(1, "hello"))
    with pytest.raises(UsageError, match="is not where you let"):
        sync(workspace, server.replace(project="another"), lambda: NOW)
    elsewhere = Team(team.postgres, make_database(team.postgres), team._stack)
    elsewhere.organisation = team.organisation
    elsewhere.admit("ada")
    with pytest.raises(UsageError, match="is not where you let"):
        sync(workspace, server.replace(server=found(elsewhere.dsn("ada"))), lambda: NOW)
    assert list(elsewhere.open("ada").own_records()) == []


def test_the_server_holds_what_the_archive_holds(
    keep: Keep, workspace: Workspace, synced: Callable[[], SyncResult], held: Held
) -> None:
    keep(prompt(1, "hello"), answer(2, "hi", call("t1", "Bash", command="ls")), result(3, "t1", "a.py"))
    keep(boundary(4), summary(5, "all of it"))
    keep(prompt(1, "hello"), prompt(5, "another way"), session=FORK)
    manager = UnifiedStateManager(workspace=workspace)
    first = manager.add_decision("Use SQLite", "one file")
    manager.supersede_decision(first.id, "Use PostgreSQL", "a team")
    done = synced()
    here = Archived(workspace.place.archive_path)
    assert (done.complete, done.told) == (True, len(here.told))
    assert held().told == here.told
    assert held().texts(FORK) == here.texts(FORK)
    assert synced().told == 0


def test_a_copy_that_comes_while_the_others_are_told_is_told_too(
    keep: Keep, workspace: Workspace, archive: Archive, server: TeamServer, synced: Callable[[], SyncResult], held: Held
) -> None:
    keep(*(prompt(number, f"prompt {number}") for number in range(1, 9)))
    synced()
    keep(*(prompt(number, f"prompt {number}") for number in range(5, 9)), session=FORK)

    def meanwhile(_store: TeamStore, batch: list[OutgoingRecord]) -> None:
        if any(isinstance(one.record, StoredStep) for one in batch):
            archive.run("INSERT OR IGNORE INTO step_copy SELECT id, 2 FROM session WHERE session_id = ?", FORK)

    sync(workspace, Watched(**server.as_dict(), before=meanwhile), lambda: NOW)
    synced()
    assert sorted(held().texts(FORK)) == sorted(Archived(workspace.place.archive_path).texts(FORK))
    assert "prompt 2" in held().texts(FORK)


@pytest.mark.parametrize("after", [0, 1, 2, 4])
def test_a_run_that_is_cut_off_between_server_and_cursor_loses_nothing_and_sends_nothing_twice(
    keep: Keep, workspace: Workspace, server: TeamServer, synced: Callable[[], SyncResult], held: Held, after: int
) -> None:
    keep(prompt(1, "hello"), answer(2, "hi"), boundary(3), summary(4, "all"))
    keep(prompt(1, "hello"), prompt(5, "another way"), session=FORK)
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    batches = iter(range(100))

    def cut(_store: TeamStore, _batch: list[OutgoingRecord]) -> None:
        if next(batches) >= after:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        sync(workspace, Watched(**server.as_dict(), after=cut), lambda: NOW)
    synced()
    assert held().told == Archived(workspace.place.archive_path).told
    assert not synced().again


def test_a_limit_ends_a_run_early_and_the_next_goes_on(
    keep: Keep, workspace: Workspace, server: TeamServer, synced: Callable[[], SyncResult], held: Held
) -> None:
    keep(*(prompt(number, f"prompt {number}") for number in range(1, 1200)))
    runs = [sync(workspace, server, lambda: NOW, Limits(records=500))]
    while not runs[-1].complete:
        runs.append(sync(workspace, server, lambda: NOW, Limits(records=500)))
    assert len(runs) > 2
    assert len(held().texts()) == 1199


@pytest.mark.parametrize("is_synced_before", [True, False])
@pytest.mark.parametrize("how", ["step", "item", "session", "text", "compaction"])
def test_what_is_forgotten_leaves_the_server(
    keep: Keep,
    workspace: Workspace,
    synced: Callable[[], SyncResult],
    held: Held,
    team: Team,
    how: str,
    is_synced_before: bool,
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
    forget(workspace, NOW + 1_000_000, ForgetRequest(**forgotten[how]))
    synced()

    def kept(told: Archived) -> tuple[list[str], list[str]]:
        others = (repr(one) for one in told.all if not isinstance(one, StoredSession | StoredStep))
        return sorted(others), told.texts()

    assert kept(held()) == kept(Archived(workspace.place.archive_path))
    if how == "text":
        assert "launch" not in all_of(team)


def all_of(team: Team) -> str:
    """All that is on the server of a team, as text."""
    of = "project IN (SELECT id FROM unified_state.project WHERE organisation = %s)"
    with team.superuser() as superuser:
        rows = superuser.execute(f"SELECT r FROM unified_state.record AS r WHERE {of}", [team.organisation])
        return repr(rows.fetchall())


def test_what_is_forgotten_while_the_server_is_down_is_told_first(
    keep: Keep, workspace: Workspace, server: TeamServer, synced: Callable[[], SyncResult], held: Held
) -> None:
    keep(prompt(1, "the launch code is 0000"))
    synced()
    forget(workspace, NOW, ForgetRequest(ref="S1"))
    with pytest.raises(StorageError):
        sync(workspace, Down(**server.as_dict()), lambda: NOW)
    keep(*(prompt(number, f"prompt {number}") for number in range(2, 800)))
    first: list[OutgoingRecord] = []
    sync(workspace, Watched(**server.as_dict(), before=lambda _store, batch: first.extend(batch[:1])), lambda: NOW)
    assert isinstance(first[0].record, Tombstone)
    assert "launch code" not in "".join(held().texts())


@pytest.fixture
def said(workspace: Workspace, archive: Archive, tmp_path: Path) -> Callable[..., None]:
    """Archives entries as a version did that did not know this kind of secret."""
    settings = Settings()
    settings.mask_secrets = False
    unmasked = Workspace(workspace.place, settings, report=workspace.report, session_id=SESSION)

    def archived(*entries: dict[str, object], session: str = SESSION) -> None:
        path = write_transcript(tmp_path / f"{session}.jsonl", *entries)
        Capture(archive, unmasked.masker, Moment(NOW)).session(str(path), session)

    return archived


def test_what_is_masked_later_is_masked_on_the_server_and_its_secret_nowhere(
    said: Callable[..., None], workspace: Workspace, synced: Callable[[], SyncResult], held: Held, team: Team
) -> None:
    said(prompt(1, f"use {SECRET}"), answer(2, "I will"), boundary(3), summary(4, f"They use {SECRET}."))
    said(prompt(1, f"use {SECRET}"), answer(5, "in the fork"), session=FORK)
    synced()
    assert SECRET in all_of(team)
    scan(workspace, fix_at=NOW + 1)
    synced()
    assert "a1b2c3" not in all_of(team).lower()
    assert held().told == Archived(workspace.place.archive_path).told
    assert held().texts()[0].startswith("use [MASKED")


def test_what_is_masked_is_told_before_what_is_new_and_on_its_way(
    said: Callable[..., None], workspace: Workspace, server: TeamServer, synced: Callable[[], SyncResult], held: Held
) -> None:
    said(prompt(1, f"use {SECRET}"))

    def mask(_store: TeamStore, batch: list[OutgoingRecord]) -> None:
        if any(isinstance(one.record, StoredStep) for one in batch):
            scan(workspace, fix_at=NOW + 1)

    sync(workspace, Watched(**server.as_dict(), before=mask), lambda: NOW)
    assert [text[:11] for text in held().texts()] == ["use [MASKED"]
    entries = [prompt(number, f"use {SECRET}") for number in range(1, 50)]
    said(*entries)
    synced()
    scan(workspace, fix_at=NOW + 2)
    said(*entries, *(prompt(number, f"prompt {number}") for number in range(50, 90)))
    sync(workspace, server, lambda: NOW + 2, Limits(records=1))
    assert SECRET not in repr(held().told)
    assert len(held().texts()) == 49


def test_what_is_masked_and_then_stands_in_a_fork_is_still_told_first(
    said: Callable[..., None], workspace: Workspace, server: TeamServer, synced: Callable[[], SyncResult], held: Held
) -> None:
    said(prompt(1, f"use {SECRET}"))
    synced()
    scan(workspace, fix_at=NOW + 1)
    said(*(prompt(number, f"prompt {number}") for number in range(2, 9)))
    said(prompt(1, f"use {SECRET}"), session=FORK)
    sync(workspace, server, lambda: NOW + 2, Limits(records=1))
    assert [text[:11] for text in held().texts()] == ["use [MASKED"]
    assert [text[:11] for text in held().texts(FORK)] == ["use [MASKED"]


def test_a_changed_item_has_the_time_of_its_change_on_the_server_and_here(
    workspace: Workspace, archive: Archive, synced: Callable[[], SyncResult], held: Held
) -> None:
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    archive.run("UPDATE item SET changed_at = '2999-01-01T00:00:00.000Z'")
    synced()
    archive.run("UPDATE item SET source_uuid = ?", uuid_of(1))
    synced()
    (item,) = held().items
    assert (item.source_uuid, item.changed_at) == (uuid_of(1), "2999-01-01T00:00:00.001Z")
    assert [item] == Archived(workspace.place.archive_path).items


def test_an_output_that_was_shortened_is_there_once_when_its_entry_is_met(
    workspace: Workspace, archive: Archive, keep: Keep, synced: Callable[[], SyncResult], held: Held
) -> None:
    keep(prompt(1, "run it"))
    whole = "".join(f"line {number}\n" for number in range(400))
    output = Output("t1", None, NOW, whole, 7)
    session = session_number(archive, SESSION)
    assert session is not None
    with archive.transaction():
        number = archive_output(archive, session, SESSION, output)
        shown = f"[S{number}: 400 lines, shown 1; show S{number}]\nline 0"
        note_shortened(archive, session, number, output, level=2, shown=len(shown))
    synced()
    assert sorted(held().texts()) == sorted(["run it", whole])
    keep(answer(2, call("t1", "Bash", command="./walk.sh")), result(3, "t1", shown))
    synced()
    assert sorted(held().texts()) == sorted(Archived(workspace.place.archive_path).texts())


def test_a_server_that_is_down_loses_nothing_and_is_visible_without_a_password(
    keep: Keep, workspace: Workspace, archive: Archive, server: TeamServer, synced: Callable[[], SyncResult]
) -> None:
    keep(prompt(1, "hello"))
    for _ in range(2):
        with pytest.raises(StorageError):
            sync(workspace, Down(**server.as_dict()), lambda: NOW)
    (state,) = server_states(archive)
    assert (state.waiting_steps, state.failures) == (1, 2)
    assert "is down" in str(state.error)
    assert SECRET not in repr(state)
    assert "sync failed" in (health_line(workspace.place.folder, NOW) or "")
    synced()
    (state,) = server_states(archive)
    assert (state.waiting_steps, state.waiting_changes, state.failures, state.error) == (0, 0, 0, None)
    assert health_line(workspace.place.folder, NOW) is None


def test_doctor_tells_of_the_server_in_use_and_of_a_former_one_only_what_it_still_has(
    keep: Keep, workspace: Workspace, server: TeamServer, synced: Callable[[], SyncResult]
) -> None:
    keep(prompt(1, "hello"))
    synced()
    forget(workspace, NOW, ForgetRequest(ref="S1"))
    with pytest.raises(StorageError):
        sync(workspace, Down(**server.as_dict()), lambda: NOW)

    settings, place = Settings(), workspace.place
    subject = Subject(place, settings, {}, NOW, place.archive_path, reads_all=False)
    (former,) = checks(subject)
    assert (former.ok, "it still has what was forgotten here since (1)" in former.message) == (True, True)
    settings.postgres_enabled, settings.postgres_dsn = True, "host=127.0.0.1 user=me dbname=db"
    (in_use,) = checks(subject)
    assert (in_use.ok, "is down" in in_use.message, SECRET in in_use.message) == (False, True, False)


def test_one_run_at_a_time_works_on_an_archive(workspace: Workspace, server: TeamServer, agreed: None) -> None:
    class Again(TeamServer):
        def open(self, *, begins: bool = False) -> TeamStore:
            sync(workspace, server, lambda: NOW, Limits(wait=0))
            raise AssertionError(begins)

    with pytest.raises(AlreadyRunningError):
        sync(workspace, Again(**server.as_dict()), lambda: NOW)


def test_after_failures_runs_in_the_background_pause_longer_and_longer(
    workspace: Workspace, archive: Archive, server: TeamServer, agreed: None
) -> None:
    pauses = []
    now = NOW
    for _ in range(9):
        with pytest.raises(StorageError):
            sync(workspace, Down(**server.as_dict()), partial(int, now))
        begin, now = now, now + MINUTE
        while not is_run_due(archive, now):
            now += MINUTE
        pauses.append((now - begin) // MINUTE)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    sync(workspace, server, lambda: now)
    assert is_run_due(archive, now)


def test_what_is_pruned_stays_on_the_server_and_what_waits_for_one_is_not_pruned(
    keep: Keep, workspace: Workspace, archive: Archive, synced: Callable[[], SyncResult], held: Held
) -> None:
    keep(prompt(1, "sent"))
    synced()
    keep(prompt(2, "waits"))
    chosen, numbers = choose_steps(archive, NOW + 1_000_000)
    assert chosen.steps == 1
    prune_steps(archive, numbers)
    synced()
    assert Archived(workspace.place.archive_path).texts() == ["waits"]
    assert held().texts() == ["sent", "waits"]


def test_a_server_that_lost_what_it_confirmed_is_sent_everything_again(
    keep: Keep, workspace: Workspace, server: TeamServer, synced: Callable[[], SyncResult], held: Held, team: Team
) -> None:
    keep(*(prompt(number, f"prompt {number}") for number in range(1, 20)))
    synced()
    keep(prompt(20, "late"))
    forget(workspace, NOW, ForgetRequest(ref="S1"))
    superuser = team.superuser()
    backup = superuser.execute("SELECT id, author, kind, version, body FROM unified_state.record").fetchall()
    synced()
    superuser.execute(
        "DELETE FROM unified_state.record USING unified_state.project AS p WHERE organisation = %s AND p.id = project "
        "AND NOT (record.id = ANY (%s))",
        [team.organisation, [row[0] for row in backup if row[2] != "mark"][5:]],
    )
    assert sync(workspace, server, lambda: NOW, Limits(records=5)).again
    assert not synced().again  # it goes on where the run before ended
    assert held().told == Archived(workspace.place.archive_path).told


def test_a_new_archive_of_the_same_member_shares_the_place_and_takes_nothing_away(
    keep: Keep, workspace: Workspace, archive: Archive, server: TeamServer, synced: Callable[[], SyncResult], held: Held
) -> None:
    """As after an archive was lost, or on a new laptop that took the history in."""
    keep(prompt(1, "hello"), answer(2, "hi"))
    synced()
    before = held().told
    with server.open() as store:
        again = list(store.own_records())
        assert take(archive, again) == 0
        assert store.append([OutgoingRecord(one, "S1") for one in again], "another", 1) == 0
    assert held().told == before


def test_vectors_reach_a_server_that_takes_some_whenever_they_are_made_and_go_with_their_steps(
    keep: Keep, workspace: Workspace, archive: Archive, server: TeamServer, synced: Callable[[], SyncResult]
) -> None:
    np = pytest.importorskip("numpy")
    from unified_state.extras.vectors.vector_table import add_vectors, model_number
    from unified_state.setting_table import MINILM, MINILM_NAME

    def nearest(place: int) -> list[str | None]:
        with server.open() as store:
            keys = [key[:2] for key in store.nearest(f"{MINILM_NAME} 1", np.eye(384)[place].tolist(), 9)]
            refs = {(one.author, one.id): one.ref for one in store.fetch(keys)}
            return [refs[key] for key in keys]

    workspace.settings.search_vectors = MINILM
    keep(prompt(1, "one"), prompt(2, "two"), prompt(3, "three"))
    model = model_number(archive, MINILM_NAME, "1", 384)
    vectors = [(step, np.eye(384, dtype="<f2")[step].tobytes()) for step in (1, 2, 3)]
    add_vectors(archive, model, vectors[:1])
    synced()
    assert nearest(1) == ["S1"]
    add_vectors(archive, model, vectors)
    assert (synced().told, synced().told) == (2, 0)
    assert nearest(2)[0] == "S2"
    forget(workspace, NOW, ForgetRequest(ref="S2"))
    synced()
    assert sorted(map(str, nearest(2))) == ["S1", "S3"]
    workspace.settings.search_vectors = "off"
    archive.run("DELETE FROM meta WHERE name LIKE 'vectors of %'")  # as before the server took some
    synced()
    workspace.settings.search_vectors = MINILM
    assert synced().told == 2
