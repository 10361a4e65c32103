from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import item
from unified_state.capture.rules.summary_block import FORM, read_block
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.model.session_state import STATE_VERSION, State, Summaries, WorkItem
from unified_state.restore.rules.summary_guidance import compact_line, keep_list

EMPTY = State(version=STATE_VERSION, timestamp="2026-01-01T00:00:00.000Z", trigger="manual")
WORKING = EMPTY.replace(
    work_item=WorkItem(id="PROJ-12", title="Switch to SQLite", phase="test"),
    summaries=Summaries(pending_actions=("run the benchmarks",)),
)
ITEMS = [
    item(1, DECISION),
    item(2, DECISION, decision="Drop Python 3.10", reversible=False),
    item(1, CONSTRAINT),
    item(2, CONSTRAINT, constraint="No network in hooks", blocking=True),
    item(1, QUESTION, priority="high"),
    item(1, EVIDENCE),
]

names = {DECISION: "decision", CONSTRAINT: "constraint", QUESTION: "question"}
items = st.builds(
    lambda number, kind, text: item(number, kind, **{names[kind]: text}),
    st.integers(1, 99),
    st.sampled_from(list(names)),
    st.text(),
)
states = st.builds(
    lambda title, actions: WORKING.replace(
        work_item=WorkItem(title=title), summaries=Summaries(pending_actions=tuple(actions))
    ),
    st.text(),
    st.lists(st.text()),
)


def test_the_list_names_the_work_the_actions_and_each_item_with_its_id() -> None:
    opening, *said = keep_list(ITEMS, WORKING, 2000).removesuffix(f"\n{FORM}").split("\n")
    assert opening.startswith("The summary contains")
    assert opening.endswith("these recorded items, each with its id:")
    assert said == [
        "Work in hand: PROJ-12, Switch to SQLite, test",
        "To do: run the benchmarks",
        "D2: Drop Python 3.10",
        "C2: No network in hooks",
        "Q1: Which port?",
        "D1: Use SQLite",
        "C1: API v1 stays",
    ]


def test_where_nothing_is_recorded_it_names_only_the_block() -> None:
    opening, block = keep_list([], EMPTY, 2000).split("\n", 1)
    assert "recorded items" not in opening
    assert block == FORM


def test_the_form_of_the_block_reports_nothing_by_itself() -> None:
    """After a manual compaction the client repeats the text, and a summary may quote it."""
    assert read_block(keep_list(ITEMS, WORKING, 2000)) == ()


def test_there_is_no_list_where_there_is_no_room() -> None:
    assert keep_list(ITEMS, WORKING, 100) == ""


@given(st.lists(items, max_size=30), states, st.integers(0, 3000))
def test_the_list_stays_within_its_bytes(shown: list[LedgerItem], state: State, limit: int) -> None:
    assert len(keep_list(shown, state, limit).encode()) <= limit


def test_half_an_emoji_in_an_item_does_not_hinder_the_list() -> None:
    assert "D1: Use " in keep_list([item(1, decision="Use \ud83d")], EMPTY, 2000)


@given(st.lists(items, max_size=30), states)
def test_a_line_of_the_list_is_never_made_by_what_an_item_says(shown: list[LedgerItem], state: State) -> None:
    known = ("Work in hand:", "To do:", *(f"{entry.alias}:" for entry in shown))
    _, *said = keep_list(shown, state, 100_000).removesuffix(FORM).splitlines()
    assert all(line.startswith(known) for line in said)


def test_the_compact_line_keeps_the_same_in_one_line() -> None:
    line = compact_line(ITEMS, WORKING, 2000)
    assert line == (
        "/compact Keep exact paths, names, commands and errors, and these recorded items with their ids: "
        "Work in hand: PROJ-12, Switch to SQLite, test; To do: run the benchmarks; D2: Drop Python 3.10; "
        "C2: No network in hooks; Q1: Which port?; D1: Use SQLite; C1: API v1 stays"
    )


def test_the_compact_line_says_what_to_keep_also_without_items() -> None:
    assert compact_line([], EMPTY, 2000) == "/compact Keep exact paths, names, commands and errors"


@given(st.lists(items, max_size=30), states, st.integers(100, 3000))
def test_the_compact_line_is_one_line_within_its_limit(shown: list[LedgerItem], state: State, limit: int) -> None:
    line = compact_line(shown, state, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) == 1
