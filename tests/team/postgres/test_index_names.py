"""A name of any length does not keep what has it, or what comes behind it, from the server."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.contracts.contract import decision, session, step, texts
from unified_state.model.history_records import Counts, HistoryQuery, StoredCompaction, StoredLink, Tombstone
from unified_state.team.postgres.postgres_values import short_name

if TYPE_CHECKING:
    from tests.team.postgres.conftest import OpenAs
    from unified_state.model.history_records import HistoryRecord

LENGTHS = (200, 801, 100_000)


def name(kind: str, length: int) -> str:
    """A name that no compression makes shorter."""
    signs = random.Random(f"{kind}{length}")
    return "".join(chr(signs.randrange(0x4E00, 0x9FFF)) for _ in range(length))


def history(length: int) -> list[HistoryRecord]:
    """Something of everything that has a name."""
    one, other, item = name("session", length), name("fork", length), name("item", length)
    return [
        session(one),
        step(1, "swordfish", session_id=one).replace(uuid=name("step", length)),
        step(1, "swordfish", session_id=other).replace(uuid=name("step", length)),
        decision(1, name("alias", length), aliases=(name("before", length),)).replace(uuid=item),
        StoredLink(item, name("another", length), name("relation", length), "2026-01-01T00:00:00.000Z"),
        StoredCompaction(one, name("boundary", length), 1),
        Tombstone("step", f"{name('gone', length)}/0", 1),
    ]


@pytest.mark.parametrize("length", LENGTHS)
def test_what_has_a_long_name_is_kept_once_and_found_by_it(open_as: OpenAs, length: int) -> None:
    store = open_as()
    assert store.append(history(length)) == store.counts().steps + 5
    assert store.append(history(length)) == 0
    assert texts(store.find_steps(name("step", length))) == ["swordfish"]
    assert len(store.steps(name("fork", length))) == 1
    query = HistoryQuery("swordfish", session_id=name("session", length))
    assert texts([hit.step for hit in store.search(query)]) == ["swordfish"]
    for ref in ("item", "alias", "before"):
        assert [item.body["decision"] for item in store.find_items(name(ref, length))] == ["Use SQLite"]


@pytest.mark.parametrize("signs", ["\ud800\udfff", "\0\\"], ids=["surrogates", "nul"])
def test_signs_that_take_more_room_on_the_server_make_no_name_too_long_for_it(open_as: OpenAs, signs: str) -> None:
    chosen = random.Random(signs.encode("utf-8", "surrogatepass"))
    first, last = sorted(map(ord, signs))
    one, other, relation = ("".join(chr(chosen.randint(first, last)) for _ in range(260)) for _ in range(3))
    link = StoredLink(one, other, relation, "2026-01-01T00:00:00.000Z")
    store = open_as()
    assert store.append([link, step(1, "swordfish", session_id=link.to_uuid)]) == 2
    assert store.append([link]) == 0
    assert len(store.steps(link.to_uuid)) == 1


def test_an_alias_that_is_taken_gives_way_to_a_free_one_whatever_numbers_were_made_up(open_as: OpenAs) -> None:
    for made_up in ("D999999", f"D{'9' * 700}"):
        store = open_as(project=made_up)
        store.append([decision(1, made_up), decision(2, "D999998"), decision(3, "D7")])
        assert store.append([decision(number, "D7") for number in (4, 5, 6)]) == 3
        assert len({item.alias for item in store.items()}) == 6


@pytest.mark.parametrize("length", LENGTHS)
def test_what_has_a_long_name_can_be_forgotten(open_as: OpenAs, length: int) -> None:
    store = open_as()
    store.append(history(length))
    gone = [
        Tombstone("step", f"{name('step', length)}/0", 2),
        Tombstone("item", name("item", length), 2),
        Tombstone("compaction", name("boundary", length), 2),
        Tombstone("session", name("session", length), 1 << 50),
    ]
    assert store.append([*history(length), *gone]) == len(gone)
    assert store.counts() == Counts(sessions=1)  # the fork
    assert list(store.links()) == []
    assert store.append(history(length)) == 0


def test_a_name_that_an_index_takes_stays_as_it_is() -> None:
    for length in (0, 36, 200, 800):
        assert short_name("x" * length) == "x" * length
    assert len({short_name("x" * length) for length in range(801, 900)}) == 99
    assert short_name(short_name("x" * 5000)) == short_name("x" * 5000)
