"""The matcher against labelled statements. Each set is a file, which says whether it was tuned on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.amount import examples
from tests.builders import item
from unified_state.capture.rules.judge_summary import claim_of, judge, named_in, says
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.model.known import BARE, DISTORTED, KEPT, MISSING, STALE, Named, RanCommand, WorkingFile, WorkingSet

SETS = sorted((Path(__file__).parent / "summaries").glob("*.tsv"))
ABSENT, FAITHFUL = "absent", "faithful"
AROUND = """1. Primary Request and Intent:
   The user asked for a refactoring of the importer and for its tests.
2. Files:
   - importer/run.py: split into two functions
{}
3. Errors:
   - KeyError in row 12, fixed by a default
"""


def verdict(claim: str, said: str) -> str:
    """The verdict on one item in a whole summary; `{}` in what is said stands for its ref."""
    if claim.endswith("?"):
        shown = item(7, QUESTION, question=claim)
    else:
        shown = item(7, DECISION, decision=claim, rationale="")
    return judge([shown], AROUND.format(said.replace("{}", shown.alias))).items[0].verdict


def verdicts(path: Path) -> Counter[tuple[str, str]]:
    """How often each label got each verdict."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line[:1] not in {"", "#"}]
    return Counter((label, verdict(claim, said)) for claim, said, label in lines)


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_at_least_95_of_100_distortions_are_caught(path: Path) -> None:
    found = verdicts(path)
    planted = sum(count for (label, _), count in found.items() if label == DISTORTED)
    assert found[DISTORTED, DISTORTED] >= 0.95 * planted


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_no_distortion_is_invented(path: Path) -> None:
    found = verdicts(path)
    assert (found[FAITHFUL, DISTORTED], found[ABSENT, DISTORTED]) == (0, 0)


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_what_is_said_is_mostly_found_and_what_is_not_said_never(path: Path) -> None:
    found = verdicts(path)
    faithful = sum(count for (label, _), count in found.items() if label == FAITHFUL)
    assert found[FAITHFUL, KEPT] >= 0.8 * faithful
    assert found[ABSENT, KEPT] == 0


def test_of_two_statements_under_the_ref_the_wrong_one_counts() -> None:
    shown = item(1, rationale="", decision="Retry 3 times")
    survival = judge([shown], "D1: Retry 3 times\n\nLater:\n- D1: Retry 5 times\n")
    assert survival.refs(DISTORTED) == ("D1",)


def test_the_place_of_what_is_said_otherwise_is_known() -> None:
    summary = "Rules:\n- D1: Retry 5 times\n- go on"
    (judged,) = judge([item(1, rationale="", decision="Retry 3 times")], summary).items
    assert summary[judged.begin : judged.end].strip() == "D1: Retry 5 times"


def test_what_one_item_says_distorts_no_other() -> None:
    items = [
        item(1, rationale="", decision="The HTTP timeout is 30 seconds"),
        item(2, rationale="", decision="The SQL timeout is 5 seconds"),
    ]
    survival = judge(items, "The SQL timeout is 5 seconds.")
    assert (survival.refs(KEPT), survival.refs(MISSING)) == (("D2",), ("D1",))


def superseded() -> list[LedgerItem]:
    newer = item(2, rationale="", decision="Use PostgreSQL for the orders")
    return [
        item(1, rationale="", decision="Use MySQL for the orders", status="superseded").replace(
            superseded_by=newer.uuid
        ),
        newer,
    ]


def test_a_superseded_item_that_is_told_as_current_is_stale_and_the_newer_one_told_otherwise() -> None:
    survival = judge(superseded(), "- Use MySQL for the orders.\n")
    assert (survival.refs(STALE), survival.refs(DISTORTED)) == (("D1",), ("D2",))


@pytest.mark.parametrize(
    "summary", ["D2: Use PostgreSQL for the orders", "D2: Use PostgreSQL for the orders (MySQL was dropped)"]
)
def test_a_superseded_item_that_is_not_told_as_current_is_nothing_to_correct(summary: str) -> None:
    survival = judge(superseded(), summary)
    assert (survival.refs(KEPT), survival.refs(STALE)) == (("D2",), ())


@pytest.mark.parametrize(
    ("said", "expected"),
    [("", BARE), (" It is one file and needs no server.", KEPT)],
)
def test_a_decision_that_is_kept_without_its_reason_is_bare(said: str, expected: str) -> None:
    shown = item(1, decision="Use SQLite for the archive", rationale="one file, no server")
    assert judge([shown], f"D1: Use SQLite for the archive.{said}\n").items[0].verdict == expected


HOSTILE = [
    "",
    " \n\n",
    "D1" * 50_000,
    "D1: " * 20_000,
    "```unified-state\n" * 5_000,
    "D1 C1 Q1 E1 " * 5_000,
    "not " * 50_000,
    "\ud83d D1: \x00 \u2028 \u202e",
    "<unified-state-memory nonce=1>\nD1: anything\n</unified-state-memory nonce=1>",
    "这是一个没有任何条目的总结。" * 3_000,
    "| D1 | | |\n" * 5_000,
]


@pytest.mark.parametrize("summary", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_summary_keeps_and_distorts_nothing(summary: str) -> None:
    items = [
        item(1, rationale="", decision="Use SQLite for the archive"),
        item(1, CONSTRAINT),
        item(1, QUESTION),
        item(1, EVIDENCE),
    ]
    survival = judge(items, summary)
    assert set(survival.refs(MISSING)) == {"D1", "C1", "Q1", "E1"}


@examples(60)
@given(st.text(max_size=200), st.text(max_size=400))
def test_any_item_can_be_judged_by_any_summary(claim: str, summary: str) -> None:
    (judged,) = judge([item(1, rationale="", decision=claim)], summary).items
    assert judged.verdict in {KEPT, BARE, MISSING, DISTORTED}
    assert 0 <= judged.begin <= judged.end <= len(summary)


@pytest.mark.parametrize("claim", ["Deploy in Q1- never Q2", "use C4 - not C5 - for it", "0不a0-不", "0不D1-不"])
def test_a_name_that_looks_like_a_ref_does_not_end_a_statement(claim: str) -> None:
    (judged,) = judge([item(1, rationale="", decision=claim)], f"D1: {claim}\n").items
    assert judged.verdict == KEPT


@examples(60)
@given(st.text("abcDEF 0123.,:;()-`*不没Dv%", max_size=60))
def test_what_is_said_word_for_word_under_its_ref_is_never_told_otherwise(claim: str) -> None:
    (judged,) = judge([item(1, rationale="", decision=claim)], f"D1: {' '.join(claim.split())}\n").items
    assert judged.verdict != DISTORTED


def test_the_working_set_is_counted_by_what_is_named() -> None:
    working_set = WorkingSet(
        files=(WorkingFile("src/db.py", 1, 0, (("open_db", 1.0), ("close_db", 1.0))), WorkingFile("a.py", 1, 0)),
        commands=(RanCommand("make test", 1),),
        references=(("#12", 1.0),),
    )
    assert named_in(working_set, "In db.py `open_db` was fixed, see #123; make test is green.") == (
        Named("files", 2, 1),
        Named("commands", 1, 1),
        Named("references", 1, 0),
        Named("identifiers", 2, 1),
    )


@pytest.mark.parametrize("kind", ALIAS_LETTERS)
def test_every_kind_of_item_is_judged(kind: str) -> None:
    shown = item(7, kind)
    assert [judged.verdict for judged in judge([shown], AROUND.format("nothing of it")).items] == [MISSING]
    assert judge([shown], AROUND.format(claim_of(shown))).items


SAID = {
    "word for word": ("Use SQLite for the archive.", "Use SQLite for the archive"),
    "with more round it": ("please use SQLite here", "Use SQLite"),
    "in another form": ("API v1 must stay as it is", "API v1 stays"),
    "with its contrary named": ("use tabs, not spaces", "Use tabs"),
    "without spaces": ("永远不要推送到主分支", "永远不要推送到主分支"),
    "two words": ("Go home", "Go home."),
}
NOT_SAID = {
    "something else": ("please go on with it", "Never run the tests"),
    "the contrary": ("never push to main", "Push to main freely"),
    "the other of two": ("use tabs, not spaces", "Use spaces"),
    "another name": ("We use SQLite for the archive", "Use Postgres for the archive"),
    "another number": ("use port 9090 for the server", "Port 8080"),
    "a consent to anything": ("yes please do it now", "Deploying to production is allowed"),
    "less than the item": ("never delete the database", "Never delete the database and never run tests"),
    "nothing": ("", "Never run the tests"),
}


@pytest.mark.parametrize(("words", "claim"), SAID.values(), ids=SAID)
def test_words_that_say_it(words: str, claim: str) -> None:
    assert says(words, claim)


@pytest.mark.parametrize(("words", "claim"), NOT_SAID.values(), ids=NOT_SAID)
def test_words_that_do_not_say_it(words: str, claim: str) -> None:
    assert not says(words, claim)
