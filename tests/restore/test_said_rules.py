"""Which of the rules that the user only said come back, and how loudly."""

from __future__ import annotations

import pytest

from tests.builders import NOW, item
from unified_state.capture.survival_table import keep_survival
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.ledger.item_table import insert_item
from unified_state.memory.repository.place import Place
from unified_state.model.item import CONSTRAINT, STANDING_RULE, TASK_RULE, LedgerItem
from unified_state.model.known import DISTORTED, KEPT, MISSING, Judged, Known, Survival
from unified_state.restore.rules.compose import compose
from unified_state.restore.said_rules import said_rules


@pytest.fixture
def session(archive: Archive) -> int:
    """A session that has begun."""
    return touch_session(archive, "mine", NOW)


def rule(number: int, text: str = "", **changes: object) -> LedgerItem:
    body = {"constraint": text or f"Never touch file {number}", "source": "the user, in a prompt", "blocking": False}
    made = item(number, CONSTRAINT, **body).replace(status="proposed")  # type: ignore[arg-type]
    return made.replace(origin="user_said", rule=STANDING_RULE, capture_key=f"said:{number}", **changes)


def refs(archive: Archive, place: Place, *, session: int | None = None, has_task: bool = True) -> tuple[list[str], int]:
    chosen, waiting = said_rules(archive, place.repository, session, has_task=has_task)
    return [one.alias for one in chosen], waiting


def judge(archive: Archive, session: int, ref: str, *verdicts: str) -> None:
    """Let a summary be judged, for each verdict."""
    for verdict in verdicts:
        archive.run("INSERT INTO compaction (session, started_at) VALUES (?, ?)", session, NOW)
        number = archive.row("SELECT max(id) FROM compaction")[0]
        keep_survival(archive, number, Survival((Judged(ref, verdict),)))


def test_at_most_twenty_come_back_and_those_of_the_session_first(archive: Archive, place: Place, session: int) -> None:
    for number in range(1, 31):
        insert_item(archive, rule(number, session_id="mine" if number <= 3 else "another"))
    chosen, waiting = refs(archive, place, session=session)
    assert (len(chosen), waiting) == (20, 10)
    assert chosen[:3] == ["C1", "C2", "C3"]
    assert chosen[3:] == [f"C{number}" for number in range(14, 31)]


def test_one_that_no_summary_used_waits_after_many_compactions(archive: Archive, place: Place, session: int) -> None:
    insert_item(archive, rule(1))
    judge(archive, session, "C1", *[MISSING] * 23)
    assert refs(archive, place) == (["C1"], 0)
    judge(archive, session, "C1", MISSING)
    assert refs(archive, place) == ([], 1)
    judge(archive, session, "C1", KEPT)
    assert refs(archive, place) == (["C1"], 0)


def test_one_for_a_task_ends_with_its_session_or_branch(archive: Archive, place: Place, session: int) -> None:
    insert_item(archive, rule(1, session_id="mine").replace(rule=TASK_RULE))
    assert refs(archive, place, session=session) == (["C1"], 0)
    assert refs(archive, place, session=session, has_task=False) == ([], 1)
    assert refs(archive, place, session=None) == ([], 1)


def test_what_the_user_did_not_say_or_settled_does_not_come_back(archive: Archive, place: Place) -> None:
    insert_item(archive, rule(1).replace(origin="inferred"))
    insert_item(archive, rule(2).replace(rule="summary"))
    insert_item(archive, rule(3).replace(status="dismissed"))
    insert_item(archive, rule(4).replace(rule=None))
    assert refs(archive, place) == ([], 0)


def test_it_is_marked_and_stands_below_what_is_confirmed() -> None:
    confirmed = item(9, CONSTRAINT, constraint="Never push", source="me", blocking=False).replace(origin="user_said")
    known = Known(reason="compact", now=NOW, items=(confirmed,), said=(rule(1),), waiting=2)
    lines = compose(known, 2_000).brief.splitlines()
    head = next(line for line in lines if line.startswith("[SAID] 1 "))
    assert "not confirmed, 2 more wait in `unified-state inbox`" in head
    assert "`unified-state inbox reject C1`" in head
    assert lines.index("  C9 (the user said): Never push. Source: me") < lines.index(head)
    assert "  C1 (not confirmed): Never touch file 1" in lines


def test_a_small_restore_gives_up_what_was_only_said_first() -> None:
    confirmed = [item(n, CONSTRAINT, constraint=f"Never touch the module {n}", source="me") for n in range(50, 60)]
    said = tuple(rule(number) for number in range(1, 21))
    known = Known(reason="compact", now=NOW, items=tuple(confirmed), said=said)
    brief = compose(known, 330).brief
    assert all(one.alias in brief for one in confirmed)
    assert brief.count("(not confirmed)") < len(said)


def test_a_summary_that_says_otherwise_is_noted_and_corrects_nothing() -> None:
    survival = Survival((Judged("C1", DISTORTED),))
    brief = compose(Known(reason="compact", now=NOW, said=(rule(1),), survival=survival), 2_000).brief
    assert "C1 (not confirmed; the summary says otherwise): Never touch file 1" in brief
    assert "[CORRECTIONS]" not in brief


def test_after_a_clear_rules_come_back_too() -> None:
    brief = compose(Known(reason="clear", now=NOW, said=(rule(1),)), 2_000).brief
    assert "C1 (not confirmed): Never touch file 1" in brief
