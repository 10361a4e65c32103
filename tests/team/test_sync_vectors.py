"""The vectors of steps reach a server that takes some, each once, and whatever comes between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.builders import NOW, prompt, uuid_of
from tests.postgres_server import PostgresServer
from unified_state.errors import StorageError
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.text_columns import forget_step
from unified_state.memory.archive.vector_table import add_vectors, model_number
from unified_state.memory.history.store_protocol import HistoryStore
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.history_records import HistoryQuery
from unified_state.setting_table import MINILM, MINILM_NAME, OFF
from unified_state.team.outbox import vector_batches
from unified_state.team.postgres.postgres_store import PostgresStore, open_postgres
from unified_state.team.server_states import server_states
from unified_state.team.sync_server import Limits, Server, Synced, sync
from unified_state.upkeep.forget.forget_refs import forget

Keep = Callable[..., None]
NAME, DIMENSIONS = MINILM_NAME, 384


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> str:
    """A database that all tests here share; each has an organisation of its own."""
    return postgres.dsn(postgres.database())


@pytest.fixture
def opened(database: str, request: pytest.FixtureRequest) -> Callable[[], PostgresStore]:
    """Opens the store on the server."""
    return lambda: open_postgres(database, "p", organisation=request.node.name, member="ada")


@pytest.fixture
def server(opened: Callable[[], PostgresStore]) -> Server:
    return Server("a server", opened)


@pytest.fixture
def synced(workspace: Workspace, server: Server) -> Callable[[], Synced]:
    """Syncs the workspace with the server."""
    workspace.settings.search_vectors = MINILM
    return lambda: sync(workspace, server, lambda: NOW)


@pytest.fixture
def near(opened: Callable[[], PostgresStore]) -> Callable[..., list[str]]:
    """The texts that the server finds by a direction alone, the nearest first."""

    def search(direction: int, version: str = "1") -> list[str]:
        query = HistoryQuery("", vector=numbers(direction).tolist(), model=f"{NAME} {version}")
        with opened() as store:
            return [hit.step.text for hit in store.search(query)]

    return search


def numbers(direction: int) -> np.ndarray[tuple[int], np.dtype[np.float16]]:
    """A vector of unit length."""
    vector = np.zeros(DIMENSIONS, "<f2")
    vector[direction] = 1
    return vector


def embed(archive: Archive, *steps: int, version: str = "1") -> None:
    """Give steps vectors, each in the direction of its number."""
    model = model_number(archive, NAME, version, DIMENSIONS)
    assert add_vectors(archive, model, [(step, numbers(step).tobytes()) for step in steps]) == len(steps)


def waiting(archive: Archive) -> int:
    """How many vectors wait for the server."""
    (state,) = server_states(archive)
    return state.waiting_vectors


def test_the_server_finds_steps_by_vectors_that_were_sent(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"), prompt(3, "three"))
    embed(archive, 3, 2, 1)
    done = synced()
    assert (done.vectors, done.complete, waiting(archive)) == (3, True, 0)
    assert near(2)[0] == "two"


def test_each_vector_is_sent_once(keep: Keep, archive: Archive, synced: Callable[[], Synced]) -> None:
    keep(prompt(1, "one"), prompt(2, "two"))
    embed(archive, 2)
    assert (synced().vectors, synced().vectors) == (1, 0)
    embed(archive, 1)
    assert waiting(archive) == 1
    assert (synced().vectors, synced().vectors) == (1, 0)


def test_a_run_that_ends_early_leaves_the_rest_to_the_next_one(
    keep: Keep, workspace: Workspace, archive: Archive, synced: Callable[[], Synced], server: Server
) -> None:
    keep(prompt(1, "one"))
    synced()
    keep(prompt(2, "two"), prompt(3, "three"))
    embed(archive, 1, 2, 3)
    first = sync(workspace, server, lambda: NOW, Limits(records=1))
    assert (first.vectors, first.complete) == (0, False)
    assert synced().vectors == 3


def test_what_a_server_took_before_the_run_was_cut_off_is_sent_again_and_changes_nothing(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], opened: Callable[[], PostgresStore]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"))
    synced()
    embed(archive, 1, 2)
    batch = next(vector_batches(archive, "a server", NAME))
    with opened() as store:
        assert store.vectors.add(batch.model, batch.vectors) == 2
        assert store.vectors.add(batch.model, batch.vectors) == 0
    assert waiting(archive) == 2
    assert (synced().vectors, waiting(archive)) == (2, 0)


def test_batches_are_bounded(keep: Keep, archive: Archive, synced: Callable[[], Synced]) -> None:
    keep(*(prompt(number, f"text {number}") for number in range(1, 6)))
    synced()
    embed(archive, 1, 2, 3, 4, 5)
    sizes = []
    for batch in vector_batches(archive, "a server", NAME, limit=2):
        sizes.append(len(batch.vectors))
        batch.settle()
    assert sizes == [2, 2, 1]


def test_the_vector_of_a_step_that_is_still_to_be_told_waits_for_it(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"))
    synced()
    keep(prompt(2, "two"))
    embed(archive, 2, 1)
    assert list(vector_batches(archive, "a server", NAME)) == []
    assert synced().vectors == 2
    assert near(2)[0] == "two"


def test_the_vector_of_what_is_forgotten_leaves_the_server(
    keep: Keep, workspace: Workspace, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"))
    embed(archive, 1, 2)
    synced()
    forget(workspace, NOW, ref="S2")
    synced()
    assert near(2) == ["one"]


def test_a_vector_that_gets_the_number_of_one_that_was_forgotten_is_sent(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"), prompt(3, "three"))
    embed(archive, 1, 2)
    synced()
    with archive.transaction():
        forget_step(archive, 2)
    embed(archive, 3)
    assert archive.rows("SELECT id FROM vector WHERE step = 3") == [(2,)]
    synced()
    assert near(3)[0] == "three"


def test_it_is_sent_too_when_that_happens_while_a_batch_is_on_its_way(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"))
    synced()
    embed(archive, 1)
    batch = next(vector_batches(archive, "a server", NAME))
    with archive.transaction():
        forget_step(archive, 1)
    embed(archive, 2)
    batch.settle()
    synced()
    assert near(2) == ["two"]


def test_the_vector_of_a_step_that_takes_another_name_is_sent_again_behind_it(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"))
    embed(archive, 1, 2)
    synced()
    archive.run("UPDATE step SET uuid = ? WHERE id = 1", uuid_of(77))
    assert list(vector_batches(archive, "a server", NAME)) == []
    synced()
    assert near(1)[0] == "one"


def test_it_is_sent_again_too_when_that_happens_while_it_is_on_its_way(
    keep: Keep,
    archive: Archive,
    synced: Callable[[], Synced],
    opened: Callable[[], PostgresStore],
    near: Callable[..., list[str]],
) -> None:
    keep(prompt(1, "one"))
    synced()
    embed(archive, 1)
    batch = next(vector_batches(archive, "a server", NAME))
    archive.run("UPDATE step SET uuid = ? WHERE id = 1", uuid_of(77))
    with opened() as store:
        store.vectors.add(batch.model, batch.vectors)
    batch.settle()
    synced()
    assert near(1) == ["one"]


def test_each_version_of_a_model_stays_apart(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"))
    embed(archive, 1)
    embed(archive, 2, version="2")
    assert synced().vectors == 2
    assert (near(1), near(1, version="2")) == (["one"], ["two"])


def test_a_vector_of_another_version_takes_the_place_of_the_one_before(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"))
    embed(archive, 1, 2)
    synced()
    embed(archive, 2, version="2")
    assert (synced().vectors, waiting(archive)) == (1, 0)
    assert (near(1), near(2, version="2")) == (["one"], ["two"])


def test_a_vector_of_an_older_version_that_is_told_again_does_not_come_back(
    keep: Keep, archive: Archive, synced: Callable[[], Synced], near: Callable[..., list[str]]
) -> None:
    keep(prompt(1, "one"), prompt(2, "two"))
    embed(archive, 1, 2)
    embed(archive, 2, version="2")
    synced()
    archive.run("UPDATE outbox_vectors SET position = 0")
    assert (synced().vectors, waiting(archive)) == (2, 0)
    assert (near(1), near(2, version="2")) == (["one"], ["two"])


def test_where_search_by_meaning_is_off_no_vector_is_sent_and_none_waits(
    keep: Keep, workspace: Workspace, archive: Archive, synced: Callable[[], Synced]
) -> None:
    keep(prompt(1, "one"))
    synced()
    embed(archive, 1)
    workspace.settings.search_vectors = OFF
    assert (synced().vectors, waiting(archive)) == (0, 0)


def test_a_server_without_the_extension_is_sent_none_until_it_has_it(
    keep: Keep, workspace: Workspace, archive: Archive, postgres: PostgresServer
) -> None:
    name = postgres.database(has_vectors=False)

    def opened() -> HistoryStore:
        return open_postgres(postgres.dsn(name), "p", organisation="o", member="ada")

    workspace.settings.search_vectors = MINILM
    keep(prompt(1, "one"))
    embed(archive, 1)
    done = sync(workspace, Server("a server", opened), lambda: NOW)
    assert (done.vectors, done.complete, waiting(archive)) == (0, True, 0)
    with postgres.admin(name) as admin:
        admin.execute("CREATE EXTENSION vector")
    assert sync(workspace, Server("a server", opened), lambda: NOW).vectors == 1


def test_vectors_wait_while_the_server_is_down(
    keep: Keep, workspace: Workspace, archive: Archive, synced: Callable[[], Synced]
) -> None:
    def down() -> HistoryStore:
        message = "the server is down"
        raise StorageError(message)

    keep(prompt(1, "one"))
    embed(archive, 1)
    synced()
    keep(prompt(2, "two"))
    embed(archive, 2)
    with pytest.raises(StorageError):
        sync(workspace, Server("a server", down), lambda: NOW)
    assert waiting(archive) == 1
    assert (synced().vectors, waiting(archive)) == (1, 0)
