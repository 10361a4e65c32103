"""Contracts on search: what is there is found, hostile queries are only text, filters hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contracts.contract import PROJECT, START, decision, same, step, texts, turn
from unified_state.model.history_records import HistoryQuery

if TYPE_CHECKING:
    from typing import Any

    from tests.contracts.contract import OpenStore
    from unified_state.upkeep.history.archive_store import SqliteStore

_HOSTILE = (
    '"',
    "'",
    "a AND",
    "NEAR(",
    "*",
    "\\",
    "%_%",
    "d:e",
    "(((",
    "'; DROP TABLE step; --",
    "\0",
    "\ud83c",
    "! & |",
)


def _found(store: SqliteStore, text: str, **filters: Any) -> list[str]:
    return texts([hit.step for hit in store.search(HistoryQuery(text=text, **filters))])


def a_search_finds_the_steps_that_hold_all_words(open_store: OpenStore) -> None:
    """Among many others, in any case; and gives each step as it is, at most as many as were asked for."""
    wanted = step(500, "The rate limiter counts Tokens per API key", kind="text", starts_turn=False)
    with open_store(PROJECT) as store:
        store.append([*(step(number, f"Nothing of note, number {number}") for number in range(1, 200)), wanted])
        hits = store.search(HistoryQuery(text="tokens limiter"))
        same(hits[0].step, wanted)
        same(len(_found(store, "nothing note", limit=7)), 7)
        same(_found(store, "word that stands nowhere at all: xyzzyq"), [])
        same([hit.score for hit in hits], sorted((hit.score for hit in hits), reverse=True))


def a_search_ranks_the_rarer_word_first(open_store: OpenStore) -> None:
    """A step with the word that few have stands above those with the word that all have."""
    common = [step(number, f"the deployment of service {number}") for number in range(1, 50)]
    with open_store(PROJECT) as store:
        store.append([*common, step(60, "the quokka incident")])
        same(_found(store, "deployment quokka")[0], "the quokka incident")


def a_search_takes_any_text(open_store: OpenStore) -> None:
    """Operators, quotes and control characters are text; none of it is an error."""
    with open_store(PROJECT) as store:
        store.append([*turn(1), step(50, "a AND b's test_limit")])
        for query in (*_HOSTILE, "", " ", "x" * 100_000):
            store.search(HistoryQuery(text=query))
            store.search(HistoryQuery(text=f"{query} test_limit"))
        same(sorted(_found(store, "' test_limit")[:2]), ["1 failed: test_limit", "a AND b's test_limit"])


def a_search_finds_what_is_not_english(open_store: OpenStore) -> None:
    """CJK without spaces, accents, names of code and files."""
    said = [
        "我们决定使用数据库分区",
        "La décision était de contourner Redis",
        "see src/shop/rate_limiter.py:42",
        "TAKE_TOKEN=1",
    ]
    with open_store(PROJECT) as store:
        store.append([step(number, text) for number, text in enumerate(said, 1)])
        same(_found(store, "数据库")[:1], said[:1])
        same(_found(store, "décision")[:1], said[1:2])
        same(_found(store, "rate_limiter.py")[:1], said[2:3])
        same(_found(store, "TAKE_TOKEN")[:1], said[3:4])


def filters_hold(open_store: OpenStore) -> None:
    """By session, kind, tool and time; `until` is no longer within; items are no steps."""
    with open_store(PROJECT) as store:
        store.append([*turn(1), *turn(21, "two"), decision(1, "D1", "run the tests")])
        same(
            [hit.step.session_id for hit in store.search(HistoryQuery(text="tests", session_id="two", limit=1))],
            ["two"],
        )
        same(_found(store, "tests", session_id="three"), [])
        kinds = {hit.step.kind for hit in store.search(HistoryQuery(text="tests", kind="thinking"))}
        same(kinds, {"thinking"})
        same({hit.step.tool for hit in store.search(HistoryQuery(text="pytest", tool="bash"))}, {"Bash"})
        same(_found(store, "pytest", tool="Read"), [])
        times = [
            hit.step.at for hit in store.search(HistoryQuery(text="tests", since=START + 21_000, until=START + 22_000))
        ]
        same(times, [START + 21_000])
