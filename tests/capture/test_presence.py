"""Whether a summary has an item is told by its ref, or by its names, numbers and rare words: nothing is understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.amount import examples
from tests.builders import item
from unified_state.capture.rules.presence import claim_of, judge
from unified_state.model.item import ALIAS_LETTERS, ATTEMPT, EVIDENCE
from unified_state.model.known import KEPT, MISSING

HOSTILE = [
    "",
    " \n\n",
    "D1" * 50_000,
    "D1x " * 20_000,
    "```unified-state\n" * 5_000,
    "not " * 50_000,
    "\ud83d \x00 \u2028 \u202e",
    "这是一个没有任何条目的总结。" * 3_000,
    "| | | |\n" * 5_000,
]

AROUND = """1. Primary Request and Intent:
   The user asked for a refactoring of the importer and for its tests.
2. Files:
   - importer/run.py: split into two functions
{}
3. Errors:
   - KeyError in row 12, fixed by a default
"""
RETRY = "Retry failed uploads 3 times behind the company proxy"


def verdict(claim: str, said: str) -> str:
    """The verdict on D7 in a whole summary."""
    return judge([item(7, decision=claim, rationale="")], AROUND.format(said)).items[0].verdict


@pytest.mark.parametrize(
    "said", ["D7", "- D7: anything", "(d7)", "see D7.", "**D7** stays", "| D7 | x |", "D1-D7", "按D7做", "D7。"]
)
def test_an_item_whose_ref_stands_there_is_kept(said: str) -> None:
    assert verdict(RETRY, said) == KEPT


@pytest.mark.parametrize("said", ["D71", "AD7", "D7x", "src/D7", "D7.py", "D7/x", "issue #D7", "_D7_", "D70.D7", ""])
def test_a_ref_inside_another_word_is_none(said: str) -> None:
    assert verdict(RETRY, said) == MISSING


@pytest.mark.parametrize(
    ("claim", "said"),
    {
        "word for word": (RETRY, RETRY),
        "in other forms": (RETRY, "- failed upload: retried 3 times, because of the company's proxy"),
        "most of its words": (RETRY, "- uploads that failed are tried 3 times (proxy of the company)"),
        "a number with its unit": ("The hook timeout is 30 seconds", "the hook timeout is 30s, in seconds"),
        "a name": ("Use PostgreSQL for the job queue", "- the jobs wait in a PostgreSQL queue"),
        "a path": ("Keep the lock in src/pool.py", "- the lock is in src/pool.py and we keep it there"),
        "two words": ("Go home", "then go home."),
        "one word": ("Tabs", "- tabs"),
        "Russian": ("Хранить резервные копии 90 дней", "- резервные копии хранить 90 дней"),
        "Chinese": ("永远不要推送到主分支", "- 规则。永远不要推送到主分支。"),
        "Japanese with a name": ("データは PostgreSQL に置く", "- データは必ず PostgreSQL に置く"),
    }.values(),
)
def test_an_item_whose_terms_stand_together_is_kept(claim: str, said: str) -> None:
    assert verdict(claim, said) == KEPT


@pytest.mark.parametrize(
    ("claim", "said"),
    {
        "another number": (RETRY, "Retry failed uploads 5 times behind the company proxy"),
        "a longer number": ("The hook timeout is 30 seconds", "the hook timeout is 300 seconds"),
        "another name": ("Use PostgreSQL for the job queue", "- use MySQL for the job queue"),
        "another path": ("Keep the lock in src/pool.py", "- keep the lock in src/loop.py"),
        "a name alone": ("Use PostgreSQL for the job queue", "- PostgreSQL was restarted"),
        "few of its words": (RETRY, "- 3 uploads were looked at"),
        "in two entries of a list": ("Keep the lock in src/pool.py", "- src/pool.py was read\n- keep the lock"),
        "in two paragraphs": ("Keep the lock in src/pool.py", "src/pool.py was read.\n\nKeep the lock."),
        "two words apart": ("Go home", "go to the home page"),
        "a short word inside another": ("Tabs", "- tabstops"),
        "nothing to compare": ("?!", "?!"),
        "Chinese": ("永远不要推送到主分支", "- 测试已经通过。分支已合并"),
        "Japanese with another name": ("データは PostgreSQL に置く", "- データは MySQL に置く"),
    }.values(),
)
def test_an_item_whose_terms_do_not_stand_together_is_missing(claim: str, said: str) -> None:
    assert verdict(claim, said) == MISSING


@pytest.mark.parametrize(("said", "expected"), [("", MISSING), (" It is one file and needs no server.", KEPT)])
def test_the_reason_of_a_decision_has_to_stand_there_too(said: str, expected: str) -> None:
    shown = item(1, decision="Use SQLite for the archive", rationale="one file, no server")
    assert judge([shown], f"We use SQLite for the archive.{said}").items[0].verdict == expected


def test_the_opposite_in_the_same_words_is_not_understood() -> None:
    assert verdict("Never push to the main branch", "- push to the main branch, never mind") == KEPT


def test_the_paragraph_that_has_it_is_known() -> None:
    summary = "Rules:\n- a first one\n- D1: Retry\n  when it fails\n- go on"
    judged = judge([item(1), item(2, decision="Write the changelog every week")], summary).items
    assert summary[judged[0].begin : judged[0].end] == "- D1: Retry\n  when it fails\n"
    assert (judged[1].verdict, judged[1].begin, judged[1].end) == (MISSING, 0, 0)


def test_a_failure_that_nobody_recorded_is_no_item_that_a_summary_loses() -> None:
    error = item(1, EVIDENCE, content="Exit code 1").replace(rule="failed_call")
    refused = item(2, ATTEMPT, origin="user_said").replace(rule="refused_call")
    assert [one.ref for one in judge([error, refused, item(3)], AROUND).items] == ["A2", "D3"]


def test_of_evidence_the_first_line_is_looked_for() -> None:
    error = item(1, EVIDENCE, content="KeyError: 'price' in importer/run.py\nTraceback …")
    assert claim_of(error) == "KeyError: 'price' in importer/run.py"
    assert judge([error], "It ended with KeyError: 'price' in importer/run.py").refs(KEPT) == ("E1",)


@pytest.mark.parametrize("kind", ALIAS_LETTERS)
def test_every_kind_of_item_is_judged(kind: str) -> None:
    shown = item(7, kind)
    assert judge([shown], AROUND.format("nothing of it")).refs(MISSING) == (shown.alias,)
    said = f"{claim_of(shown)} {shown.body.get('rationale', '')}"
    assert judge([shown], AROUND.format(said)).refs(KEPT) == (shown.alias,)


@pytest.mark.parametrize("summary", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_summary_keeps_nothing(summary: str) -> None:
    items = [item(1, kind) for kind in ALIAS_LETTERS]
    assert judge(items, summary).refs(MISSING) == tuple(one.alias for one in items)


@examples(60)
@given(st.text(max_size=200), st.text(max_size=400))
def test_any_item_can_be_judged_by_any_summary(claim: str, summary: str) -> None:
    (judged,) = judge([item(1, rationale="", decision=claim)], summary).items
    assert judged.verdict in {KEPT, MISSING}
    assert 0 <= judged.begin <= judged.end <= len(summary)


@examples(60)
@given(st.text("abcDEF 0123.,:;()-`*不没Dv%", min_size=1, max_size=60))
def test_what_is_said_word_for_word_is_kept(claim: str) -> None:
    (judged,) = judge([item(1, rationale="", decision=claim)], f"x\n\n{' '.join(claim.split())}\n").items
    assert judged.verdict == (KEPT if any(map(str.isalnum, claim)) else MISSING)
