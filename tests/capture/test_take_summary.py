from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest

from tests.builders import NOW, SESSION, boundary, prompt, summary
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import (
    Compaction,
    begin_compaction,
    keep_boundary,
    keep_summary,
)
from unified_state.archive.session_work import add_notes, open_notes
from unified_state.archive.sessions import touch_session
from unified_state.capture.survival_table import find_survival
from unified_state.capture.take_summary import take_in
from unified_state.ledger.item_table import (
    DISMISSED,
    PROPOSED,
    find_item,
    list_items,
    update_item,
)
from unified_state.ledger.record_item import Author, record_item
from unified_state.model.item import CONSTRAINT, DECISION, QUESTION, LedgerItem
from unified_state.model.known import KEPT, MISSING, Survival
from unified_state.model.step import Boundary
from unified_state.secrets.masker import Masker

Keep = Callable[..., None]


def block(*lines: str) -> str:
    return "\n".join(["What was done.", "```unified-state", *lines, "```"])


@pytest.fixture
def compaction(archive: Archive) -> Compaction:
    return begin_compaction(archive, touch_session(archive, SESSION, NOW), NOW, "auto")


@pytest.fixture
def record(archive: Archive, masker: Masker) -> Callable[..., LedgerItem]:
    def decide(text: str, **options: str) -> LedgerItem:
        body = {"decision": text, "rationale": "agreed", "reversible": True}
        return record_item(archive, DECISION, body, Author("user_said"), now=NOW, **options)

    return decide


def survival(archive: Archive, compaction: Compaction) -> Survival:
    found = find_survival(archive, compaction.id)
    assert found is not None
    return found.survival


def recorded(archive: Archive) -> list[tuple[str, str, str]]:
    texts = {DECISION: "decision", CONSTRAINT: "constraint", QUESTION: "question"}
    return [(item.alias, item.body[texts[item.kind]], item.status) for item in list_items(archive)]


def test_what_the_block_reports_is_recorded_with_its_source(archive: Archive, compaction: Compaction) -> None:
    assert take_in(archive, compaction, block("decision: Use SQLite. Why: one file"), NOW) == 1
    item = find_item(archive, "D1")
    assert (item.body["decision"], item.body["rationale"]) == ("Use SQLite.", "one file")
    assert (item.origin, item.status, item.session_id) == ("inferred", "active", SESSION)
    assert (item.rule, item.compaction, item.quote) == ("summary", compaction.id, "Use SQLite. Why: one file")
    assert item.quote_hash == sha256(b"Use SQLite. Why: one file").hexdigest()


def test_a_constraint_that_a_model_reports_is_only_proposed_and_never_blocking(
    archive: Archive, compaction: Compaction
) -> None:
    take_in(archive, compaction, block("constraint: No network"), NOW)
    item = find_item(archive, "C1")
    assert (item.status, item.body["blocking"]) == (PROPOSED, False)


def test_the_same_summary_is_recorded_once(archive: Archive, compaction: Compaction) -> None:
    text = block("decision: Use SQLite", "question: Which port?", "next: run it")
    assert [take_in(archive, compaction, text, NOW) for _ in range(3)] == [2, 0, 0]
    assert len(list_items(archive)) == 2
    assert archive.row("SELECT count(*) FROM note") == (1,)


@pytest.mark.parametrize(
    "line",
    ["decision: use sqlite for the archive.", "decision: D1: Use DuckDB", "decision: SQLite is used for the archive"],
)
def test_what_is_known_is_not_recorded_again(
    archive: Archive, compaction: Compaction, record: Callable[..., LedgerItem], line: str
) -> None:
    record("Use SQLite for the archive")
    assert take_in(archive, compaction, block(line), NOW) == 0


def test_what_is_superseded_does_not_come_back(
    archive: Archive, compaction: Compaction, record: Callable[..., LedgerItem]
) -> None:
    record("Use MySQL for the orders")
    record("Use PostgreSQL for the orders", supersedes="D1")
    take_in(archive, compaction, block("decision: Use MySQL for the orders"), NOW)
    assert [status for _, _, status in recorded(archive)] == ["superseded", "active"]


def test_of_two_summaries_of_one_compaction_the_last_one_counts(archive: Archive, compaction: Compaction) -> None:
    """The client asks again where an answer has no summary in it."""
    take_in(archive, compaction, block("decision: Use SQLite", "decision: Use pytest"), NOW)
    take_in(archive, compaction, block("decision: Use pytest"), NOW)
    assert [(text, status) for _, text, status in recorded(archive)] == [
        ("Use SQLite", DISMISSED),
        ("Use pytest", "active"),
    ]


def test_what_the_user_dismissed_stays_dismissed(archive: Archive, compaction: Compaction) -> None:
    take_in(archive, compaction, block("decision: Use SQLite"), NOW)
    update_item(archive, find_item(archive, "D1").replace(status=DISMISSED))
    take_in(archive, compaction, block("decision: Use SQLite"), NOW)
    keep_boundary(archive, compaction.session, boundary_of("b"))
    later = begin_compaction(archive, compaction.session, NOW)
    take_in(archive, later, block("decision: Use SQLite"), NOW)
    assert [status for _, _, status in recorded(archive)] == [DISMISSED]


def boundary_of(uuid: str) -> Boundary:
    return Boundary(uuid=uuid, at=NOW, trigger="auto", pre_tokens=1)


def test_next_steps_are_pending_until_a_later_summary_names_others(archive: Archive, compaction: Compaction) -> None:
    add_notes(archive, compaction.session, "action", ["ask Bob"], "t")
    take_in(archive, compaction, block("next: run it", "next: ask Bob"), NOW)
    assert open_notes(archive, compaction.session, "action", 9) == ("ask Bob", "run it")
    keep_boundary(archive, compaction.session, boundary_of("b"))
    take_in(archive, begin_compaction(archive, compaction.session, NOW), block("next: release it"), NOW)
    assert open_notes(archive, compaction.session, "action", 9) == ("ask Bob", "release it")


def test_the_items_are_judged_by_the_summary(
    archive: Archive, compaction: Compaction, record: Callable[..., LedgerItem]
) -> None:
    for text in ("Use SQLite for the archive", "Retry uploads 3 times", "Store timestamps in UTC"):
        record(text)
    record("Store timestamps in the zone of the office", supersedes="D3")
    take_in(archive, compaction, "- the archive is SQLite, as agreed\n- Uploads: retry 3 times (agreed)\n", NOW)
    found = survival(archive, compaction)
    assert (found.refs(KEPT), found.refs(MISSING)) == (("D1", "D2"), ("D4",))


def test_a_summary_that_only_the_transcript_has_is_read_from_there(archive: Archive, keep: Keep) -> None:
    text = f"This session is being continued.\nSummary:\n{block('decision: Use SQLite')}\n\nIf you need details …"
    keep(prompt(0, "go"), boundary(1), summary(2, text))
    assert recorded(archive) == [("D1", "Use SQLite", "active")]


def test_a_summary_that_a_hook_told_is_not_read_again_from_the_transcript(
    archive: Archive, keep: Keep, compaction: Compaction
) -> None:
    keep_summary(archive, compaction, "told")
    keep(prompt(0, "go"), boundary(1), summary(2, block("decision: Use SQLite")))
    assert recorded(archive) == []
