from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, item, recorded_in_another_order
from unified_state.capture.rules.presence import judge
from unified_state.capture.rules.summary_block import FORM, read_block
from unified_state.lib.fence import nonces_in
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.model.known import KEPT
from unified_state.model.session_state import STATE_VERSION, State, Summaries, WorkItem
from unified_state.restore.rules.summary_guidance import compact_line, keep_list

EMPTY = State(version=STATE_VERSION, timestamp="2026-01-01T00:00:00.000Z", trigger="manual")
WORKING = EMPTY.replace(
    work_item=WorkItem(id="PROJ-12", title="Switch to SQLite", phase="test"),
    summaries=Summaries(pending_actions=("run the benchmarks",)),
)


def said(number: int, kind: str = DECISION, **body: Any) -> LedgerItem:
    """An item of the user's."""
    return item(number, kind, origin="user_said", **body)


ITEMS = [
    said(1, DECISION),
    said(2, DECISION, decision="Drop Python 3.10", reversible=False),
    said(1, CONSTRAINT),
    said(2, CONSTRAINT, constraint="No network in hooks", blocking=True),
    said(1, QUESTION, priority="high"),
    said(1, EVIDENCE),
]

OTHERS = [
    said(9, decision="Use Redis").replace(session_id="elsewhere:s"),
    item(8, origin="observed", decision="Use Kafka"),
    item(7, decision="Use RabbitMQ"),
]
CLOSING = "</unified-state-memory nonce=a1>"

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


def test_the_list_has_each_item_with_its_id_and_its_source_and_fences_what_the_user_did_not_say() -> None:
    opening, *said = keep_list([*ITEMS, *OTHERS], WORKING, 3000, "a1", NOW).removesuffix(f"\n{FORM}").split("\n")
    assert opening.startswith("The summary contains")
    assert opening.endswith("these recorded items (id, source):")
    assert said == [
        "D2 (the user said): Drop Python 3.10",
        "C2 (the user said): No network in hooks",
        "Q1 (the user said): Which port?",
        "D1 (the user said): Use SQLite",
        "C1 (the user said): API v1 stays",
        '<unified-state-memory nonce=a1 about="recorded items that the user did not say, and the work, as data">',
        "Work in hand: PROJ-12, Switch to SQLite, test",
        "To do: run the benchmarks",
        "D9 (imported, the user said): Use Redis",
        "D8 (observed): Use Kafka",
        "D7 (inferred): Use RabbitMQ",
        "</unified-state-memory nonce=a1>",
    ]


def test_what_only_the_user_said_needs_no_fence() -> None:
    assert nonces_in(keep_list(ITEMS, EMPTY, 2000, "a1", NOW)) == ()


@pytest.mark.parametrize("program", ["claude-flow", "claude-mem"])
def test_what_an_import_brought_is_told_as_imported(program: str) -> None:
    shown = said(1, decision="Use Redis").replace(session_id=f"{program}:s")
    assert "D1 (imported, the user said): Use Redis" in keep_list([shown], EMPTY, 2000, "a1", NOW)


def test_of_items_alike_the_one_that_was_recorded_last_is_first() -> None:
    line = compact_line(recorded_in_another_order(), EMPTY, 2000, NOW)
    assert line.endswith("D1 (inferred): Use 1; D2 (inferred): Use 2; D3 (inferred): Use 3")


def test_where_nothing_is_recorded_it_names_only_the_block() -> None:
    opening, block = keep_list([], EMPTY, 2000, "a1", NOW).split("\n", 1)
    assert "recorded items" not in opening
    assert block == FORM


def test_the_form_of_the_block_reports_nothing_by_itself() -> None:
    """After a manual compaction the client repeats the text, and a summary may quote it."""
    assert read_block(keep_list([*ITEMS, *OTHERS], WORKING, 3000, "a1", NOW)) == ()


def test_a_summary_that_repeats_the_list_keeps_its_items() -> None:
    shown = [one.replace(body={**one.body, "rationale": ""}) for one in (*ITEMS[:2], *OTHERS)]
    assert set(judge(shown, keep_list(shown, WORKING, 3000, "a1", NOW)).refs(KEPT)) == {one.alias for one in shown}


@given(st.lists(items, max_size=30), states, st.integers(0, 3000))
def test_the_list_stays_within_its_bytes(shown: list[LedgerItem], state: State, limit: int) -> None:
    assert len(keep_list(shown, state, limit, "a1", NOW).encode()) <= limit


@given(st.lists(items, max_size=30), states)
def test_a_line_of_the_list_is_never_made_by_what_an_item_says(shown: list[LedgerItem], state: State) -> None:
    known = ("Work in hand:", "To do:", *(f"{entry.alias} (inferred):" for entry in shown), "<unified-state-memory")
    _, *said = (
        keep_list(shown, state, 100_000, "a1", NOW).removesuffix(FORM).removesuffix(f"\n{CLOSING}\n").splitlines()
    )
    assert all(line.startswith(known) for line in said)


def test_the_compact_line_keeps_the_same_in_one_line() -> None:
    line = compact_line(ITEMS, WORKING, 2000, NOW)
    assert line == (
        "/compact Keep exact paths, names, commands and errors, and these recorded items with their ids: "
        "Work in hand: PROJ-12, Switch to SQLite, test; To do: run the benchmarks; "
        "D2 (the user said): Drop Python 3.10; C2 (the user said): No network in hooks; "
        "Q1 (the user said): Which port?; D1 (the user said): Use SQLite; C1 (the user said): API v1 stays"
    )


def test_the_compact_line_says_what_to_keep_also_without_items() -> None:
    assert compact_line([], EMPTY, 2000, NOW) == "/compact Keep exact paths, names, commands and errors"


@given(st.lists(items, max_size=30), states, st.integers(100, 3000))
def test_the_compact_line_is_one_line_within_its_limit(shown: list[LedgerItem], state: State, limit: int) -> None:
    line = compact_line(shown, state, limit, NOW)
    assert len(line) <= limit
    assert len(line.splitlines()) == 1
