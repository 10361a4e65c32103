"""A server is known by its own id: under another address nothing is sent again, and it is listed once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.builders import NOW, answer, prompt
from unified_state.errors import StorageError
from unified_state.memory.archive.archive import Archive
from unified_state.memory.history.archive_store import SqliteStore
from unified_state.memory.manager import UnifiedStateManager
from unified_state.memory.workspace.workspace import Workspace
from unified_state.team.server_states import server_states
from unified_state.team.sync_server import Limits, Server, Synced, sync

Keep = Callable[..., None]
WHO = "acme/shop as ada"
SENT_BEFORE = 4  # of `keep`: a session, two steps, an item


class Marks:
    """The marks of a server, in a file beside its history."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, archive: str) -> int:
        path = self._path.with_name(f"{archive}.mark")
        return int(path.read_text()) if path.exists() else 0

    def keep(self, archive: str, mark: int) -> None:
        self._path.parent.mkdir(exist_ok=True)
        self._path.with_name(f"{archive}.mark").write_text(str(max(mark, self.read(archive))))


class Team:
    """Servers, each in a folder of its own; of an older version one has no id."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self._workspace, self._folder = workspace, folder

    def sync(self, address: str, server: str = "one", *, has_id: bool = True, limit: int | None = None) -> Synced:
        path = self._folder / server / "archive.db"

        class Store(SqliteStore):
            marks = Marks(path)

        def opened() -> Store:
            store = Store(str(path))
            if has_id:
                store.identity = server  # type: ignore[attr-defined]
            return store

        named = Server(f"{WHO} on {address}", opened, "acme/shop", WHO)
        return sync(self._workspace, named, lambda: NOW, Limits(records=limit))

    def listed(self) -> list[str]:
        states = self._workspace.use(server_states)
        return [state.name.removeprefix(f"{WHO} on ") for state in states]

    def steps(self, server: str) -> int:
        with SqliteStore(str(self._folder / server / "archive.db")) as store:
            return store.counts().steps


@pytest.fixture
def team(keep: Keep, workspace: Workspace, tmp_path: Path) -> Team:
    keep(prompt(1, "hello"), answer(2, "hi"))
    UnifiedStateManager(workspace=workspace).add_decision("Use SQLite", "one file")
    return Team(workspace, tmp_path)


def test_under_another_address_nothing_is_sent_again_and_it_is_listed_once(team: Team, keep: Keep) -> None:
    assert team.sync("localhost").told == SENT_BEFORE
    assert team.sync("127.0.0.1").told == 0
    assert team.listed() == ["127.0.0.1"]
    keep(prompt(3, "and on"))
    assert (team.sync("bouncer").told, team.sync("localhost").told) == (2, 0)  # the step, and its time of the session
    assert team.listed() == ["localhost"]
    assert team.steps("one") == 3


def test_what_waited_for_one_address_is_sent_under_another(team: Team, workspace: Workspace) -> None:
    team.sync("localhost")
    UnifiedStateManager(workspace=workspace).add_decision("Use files", "no server")
    done = team.sync("127.0.0.1")
    assert (done.told, done.new, done.complete) == (1, 1, True)


def test_another_server_is_sent_everything(team: Team) -> None:
    team.sync("localhost")
    assert team.sync("elsewhere", "two").new == SENT_BEFORE - 1
    assert team.listed() == ["localhost", "elsewhere"]
    assert (team.steps("one"), team.steps("two")) == (2, 2)


def test_an_address_that_leads_to_another_server_now_is_sent_everything(team: Team) -> None:
    team.sync("localhost")
    assert team.sync("localhost", "two").new == SENT_BEFORE - 1
    assert (team.listed(), team.steps("two")) == (["localhost"], 2)
    assert team.sync("localhost", "two").told == 0


def test_an_address_that_leads_to_a_known_server_now_goes_on_there(team: Team, keep: Keep) -> None:
    team.sync("first")
    team.sync("second", "two")
    keep(prompt(3, "and on"))
    assert team.sync("first", "two").told == 2  # the step, and its time of the session
    assert (team.listed(), team.steps("two")) == (["first"], 3)


def test_what_was_sent_under_an_address_before_servers_had_ids_is_adopted(team: Team) -> None:
    team.sync("localhost", has_id=False)
    assert team.sync("localhost").told == 0
    assert team.sync("127.0.0.1").told == 0
    assert team.listed() == ["127.0.0.1"]


def test_what_was_sent_before_is_adopted_under_another_address_if_the_server_proves_it(
    team: Team, workspace: Workspace, keep: Keep
) -> None:
    team.sync("localhost", has_id=False)
    keep(prompt(3, "and on"))
    UnifiedStateManager(workspace=workspace).add_decision("Use files", "no server")
    done = team.sync("127.0.0.1")
    assert (done.told, done.new, team.listed()) == (4, 2, ["127.0.0.1"])  # no step again; items are
    assert team.steps("one") == 3


def test_a_server_that_proves_nothing_is_sent_everything(team: Team) -> None:
    team.sync("localhost", has_id=False)
    assert team.sync("elsewhere", "two").new == SENT_BEFORE - 1
    assert team.listed() == ["localhost", "elsewhere"]


def test_rows_of_one_server_from_before_become_one_as_their_addresses_are_used(team: Team) -> None:
    team.sync("localhost", has_id=False)
    team.sync("127.0.0.1", has_id=False)
    team.sync("localhost")
    assert team.listed() == ["localhost", "127.0.0.1"]
    assert team.sync("127.0.0.1").told == 0
    assert team.listed() == ["127.0.0.1"]


def test_a_new_address_that_cannot_be_reached_changes_nothing(team: Team, workspace: Workspace) -> None:
    team.sync("localhost")

    def down() -> SqliteStore:
        message = "no route"
        raise StorageError(message, "")

    with suppress(StorageError):
        sync(workspace, Server(f"{WHO} on misspelt", down, "acme/shop", WHO), lambda: NOW)
    assert team.sync("localhost").told == 0
    assert team.listed() == ["localhost"]


def test_a_run_that_is_cut_off_under_a_new_address_goes_on_under_the_old_one(
    team: Team, archive: Archive, keep: Keep
) -> None:
    keep(*(prompt(number, f"prompt {number}") for number in range(3, 1200)))
    first = team.sync("localhost", limit=500)
    second = team.sync("127.0.0.1", limit=500)
    last = team.sync("localhost")
    assert (first.complete, last.complete) == (False, True)
    assert first.new + second.new + last.new == 1199 + 1
    assert archive.row("SELECT count(*) FROM outbox") == (0,)
