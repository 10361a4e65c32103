from __future__ import annotations

import random
from math import hypot
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest

from tests.contracts.contract import step, texts, uuid
from tests.postgres_server import PostgresServer
from tests.team.postgres.test_tenancy import claim
from unified_state.model.history_records import HistoryQuery, StoredStep, Tombstone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.team.postgres.conftest import OpenAs
    from unified_state.team.postgres.postgres_store import PostgresStore

MODEL = "minilm 1"
PATIENCE = 60  # seconds after which nothing comes any more
_WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
AND application_name = 'unified-state'
"""


def vector(*numbers: float, dimensions: int = 384) -> list[float]:
    return [*numbers, *[0.0] * (dimensions - len(numbers))]


def found(store: PostgresStore, text: str, asked: list[float], **filters: object) -> list[str]:
    query = HistoryQuery(text=text, vector=asked, **{"model": MODEL, **filters})  # type: ignore[arg-type]
    return texts([hit.step for hit in store.search(query)])


@pytest.fixture
def store(open_as: OpenAs) -> PostgresStore:
    """Three steps with vectors that tell apart what their words do not."""
    opened = open_as()
    opened.append([step(1, "about cats"), step(2, "about dogs"), step(3, "about nothing", session_id="two")])
    directions = [vector(1, 0), vector(0, 1), vector(-1, 0)]
    assert opened.vectors.add(MODEL, [(uuid(number), 0, one) for number, one in enumerate(directions, 1)]) == 3
    return opened


def test_what_is_near_is_found_without_a_word_in_common(store: PostgresStore) -> None:
    assert found(store, "felines", vector(1, 0.1))[0] == "about cats"
    assert found(store, "", vector(0, 1))[0] == "about dogs"


def test_words_and_vectors_add_up(store: PostgresStore) -> None:
    assert found(store, "dogs", vector(0.6, 0.5))[0] == "about dogs"
    assert found(store, "about", vector(0.6, 0.5))[0] == "about cats"


def test_filters_hold_for_vectors_too(store: PostgresStore) -> None:
    assert found(store, "", vector(1, 0), session_id="two") == ["about nothing"]
    assert found(store, "", vector(1, 0), kind="thinking") == []


def test_a_vector_is_kept_once_and_only_of_a_step_of_ones_own(store: PostgresStore) -> None:
    assert store.vectors.add(MODEL, [(uuid(1), 0, vector(1)), (uuid(99), 0, vector(1))]) == 0


@pytest.mark.parametrize("dimensions", [384, 768])
def test_only_vectors_of_one_model_are_compared(store: PostgresStore, dimensions: int) -> None:
    store.vectors.add("another 1", [(uuid(3), 0, vector(1, dimensions=dimensions))])
    assert found(store, "", vector(1, dimensions=dimensions), model="another 1") == ["about nothing"]
    assert found(store, "", vector(1), limit=1) == ["about cats"]


def test_the_vector_of_what_is_forgotten_goes_with_it(
    store: PostgresStore, postgres: PostgresServer, organisation: str
) -> None:
    store.append([Tombstone("step", f"{uuid(1)}/0", 1)])
    assert "about cats" not in found(store, "", vector(1))
    with postgres.connect() as connection, connection.transaction():
        connection.execute("SELECT unified_state.ask(%s, 'p', 'ada')", [organisation])
        assert connection.execute("SELECT count(*) FROM unified_state.step_vector").fetchone() == (2,)


def test_a_vector_that_is_on_its_way_while_its_step_is_forgotten_does_not_stay(
    store: PostgresStore, open_as: OpenAs, postgres: PostgresServer, organisation: str
) -> None:
    another, done = open_as(), []
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        with connection.transaction():  # which keeps the forgetting from ending
            connection.execute("SELECT 1 FROM unified_state.volume FOR UPDATE")
            forgetting = Thread(target=store.append, args=([Tombstone("step", f"{uuid(1)}/0", 1)],))
            forgetting.start()
            wait_for_waiting(postgres, 1)
            adding = Thread(target=lambda: done.append(another.vectors.add("wl 1", [(uuid(1), 0, vector(1))])))
            adding.start()
            wait_for_waiting(postgres, 2, done)
        forgetting.join()
        adding.join()
        assert done == [0]
        assert connection.execute("SELECT count(*) FROM unified_state.step_vector").fetchone() == (2,)


def wait_for_waiting(postgres: PostgresServer, number: int, done: Sequence[object] = ()) -> None:
    """Wait until so many statements wait for a row of ours, or something is done."""
    end = monotonic() + PATIENCE
    with postgres.admin("shared") as admin:
        while not done and monotonic() < end:
            (waiting,) = admin.execute(_WAITING).fetchone() or (0,)
            if waiting >= number:
                return
            sleep(0.02)
    assert done, "nothing waits"


def test_of_two_versions_of_a_model_a_step_has_the_vector_that_came_last(store: PostgresStore) -> None:
    for other in ("minilm", "minilm 2 1", "mini 1"):  # other models
        store.vectors.add(other, [(uuid(1), 0, vector(1))])
    assert store.vectors.add("minilm 2", [(uuid(1), 0, vector(0, 1)), (uuid(99), 0, vector(1))]) == 1
    assert "about cats" not in found(store, "", vector(1))
    for model in ("minilm", "minilm 2 1", "mini 1", "minilm 2"):
        assert found(store, "", vector(1), model=model) == ["about cats"]
    assert len(found(store, "", vector(1))) == 2


def test_another_tenants_vectors_are_not_found(store: PostgresStore, open_as: OpenAs, organisation: str) -> None:
    for other in (open_as(of=f"{organisation}-2"), open_as(project="another")):
        other.append([step(7, "mine")])
        assert found(other, "", vector(1)) == []
        assert other.vectors.add(MODEL, [(uuid(1), 0, vector(1))]) == 0


def test_the_index_finds_what_an_exact_search_finds(open_as: OpenAs, postgres: PostgresServer) -> None:
    numbers = random.Random(5)
    centres = [[numbers.gauss(0, 1) for _ in range(384)] for _ in range(20)]
    made = {number: [place + numbers.gauss(0, 0.7) for place in numbers.choice(centres)] for number in range(1, 1501)}
    store = open_as()
    store.append([step(number) for number in made])
    store.vectors.add(MODEL, [(uuid(number), 0, one) for number, one in made.items()])
    hits = asked = 0
    for _ in range(10):
        query = [place + numbers.gauss(0, 0.7) for place in numbers.choice(centres)]
        nearest = sorted(made, key=lambda number: -_cosine(made[number], query))[:10]
        answer = store.search(HistoryQuery(text="", vector=query, model=MODEL))
        hits += len({hit.step.uuid for hit in answer} & {uuid(number) for number in nearest})
        asked += 10
    assert hits / asked >= 0.95


def _cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / hypot(*one) / hypot(*other)


def test_without_the_extension_all_but_vectors_works_and_it_can_come_later(
    postgres: PostgresServer, open_as: OpenAs
) -> None:
    database = postgres.database(has_vectors=False)  # and its owner may not make the extension
    store = open_as(dbname=database)
    assert not store.vectors.can_be_kept
    assert store.append([step(1, "swordfish")]) == 1
    assert store.vectors.add(MODEL, [(uuid(1), 0, vector(1))]) == 0
    assert found(store, "swordfish", vector(1)) == ["swordfish"]
    with postgres.admin(database) as connection:
        connection.execute("CREATE EXTENSION vector")
    later = open_as(dbname=database)
    assert later.vectors.can_be_kept
    assert later.vectors.add(MODEL, [(uuid(1), 0, vector(1))]) == 1
    assert found(later, "", vector(1)) == ["swordfish"]
    assert isinstance(later.find_steps(uuid(1))[0], StoredStep)


def test_a_member_admitted_before_there_were_vectors_may_use_them(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    database, role = postgres.database(has_vectors=False), postgres.role()
    open_as(dbname=database, of="elsewhere")
    with postgres.connect(database) as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [role, organisation])
    assert not open_as(dbname=database, user=role).vectors.can_be_kept
    with postgres.admin(database) as connection:
        connection.execute("CREATE EXTENSION vector")
    open_as(dbname=database, of="elsewhere")
    store = open_as(dbname=database, user=role)
    store.append([step(1, "swordfish")])
    assert store.vectors.add(MODEL, [(uuid(1), 0, vector(1))]) == 1
    assert found(store, "", vector(1)) == ["swordfish"]
