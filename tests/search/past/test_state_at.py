"""The state at a point, the changes between two, and the history of an item: a real archive in real repositories."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW, SESSION, answer, call, prompt, result
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import begin_compaction
from unified_state.archive.sessions import touch_session
from unified_state.errors import NotFoundError, UsageError
from unified_state.interfaces.cli.main import run
from unified_state.ledger.correct_item import close, drop, edit, reopen
from unified_state.ledger.decide_proposal import accept, reject
from unified_state.ledger.item_table import find_item, update_item
from unified_state.ledger.record_item import Author, record_item
from unified_state.lib.times import to_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, QUESTION
from unified_state.project.find_repository import find_repository
from unified_state.search.past.points import find_point
from unified_state.search.past.state_at import changes_between, history_of, items_at
from unified_state.secrets.masker import Masker
from unified_state.state_file.manager import UnifiedStateManager

HOUR = 3_600_000
USER = Author(USER_SAID)
AGENT = Author("inferred", SESSION)


@pytest.fixture
def told(archive: Archive, masker: Masker, project: Path) -> Archive:
    """An archive in which something happens every hour."""
    record: dict[str, dict[str, Any]] = {
        DECISION: {"decision": "Use SQLite", "rationale": "one file", "reversible": True},
        QUESTION: {"question": "Which port?", "context": "the proxy", "priority": "high"},
        CONSTRAINT: {"constraint": "No pushes", "source": "the user", "blocking": False},
        ATTEMPT: {"attempt": "A retry", "outcome": "it counts twice"},
    }
    for hour, (kind, body) in enumerate(record.items(), 1):
        record_item(archive, kind, body, USER, now=at(hour))
    close(archive, "Q1", "Port 8080", USER, now=at(5))
    edit(archive, "D1", {"decision": "Use SQLite 3"}, USER, now=at(6))
    rule = find_item(archive, "C1")
    lifted = {**rule.body, "resolution": "lifted by the user", "resolvedAt": to_text(at(7))}  # as at a terminal
    update_item(archive, rule.replace(status="resolved", body=lifted, changed_at=to_text(at(7))))
    close(archive, "A1", "it works now", USER, now=at(8))
    drop(archive, "D2", USER, now=at(9), why="a typo")
    reopen(archive, "D2", USER, now=at(10))
    return archive


def at(hour: int) -> int:
    return NOW + hour * HOUR


def held(archive: Archive, hour: int) -> dict[str, str]:
    """The refs and the texts of what held half an hour later."""
    found = items_at(archive, at(hour) + HOUR // 2)
    return {item.alias: str(next(iter(item.body.values()))) for item, _ in found}


def test_what_held_at_a_time_is_told_in_the_words_that_it_had_then(told: Archive) -> None:
    assert held(told, 0) == {}
    assert held(told, 4) == {"D1": "Use SQLite", "Q1": "Which port?", "C1": "No pushes", "A1": "A retry"}
    assert held(told, 5).keys() == {"D1", "C1", "A1"}
    assert held(told, 6)["D2"] == "Use SQLite 3"
    assert "D1" not in held(told, 6)
    assert "A1" not in held(told, 8)
    assert "D2" not in held(told, 9)
    assert "D2" in held(told, 10)


def test_the_changes_between_two_times_are_told_once_each(told: Archive, project: Path) -> None:
    def verbs(first: int, last: int | None) -> list[tuple[str, str, str]]:
        names = (to_text(at(first)), None if last is None else to_text(at(last)))
        found = changes_between(told, find_repository(str(project)), *names, at(20))
        return [(event.item.alias, event.verb, event.detail) for event in found.events]

    assert verbs(4, 6) == [("Q1", "answered", "Port 8080"), ("D1", "superseded", "by D2"), ("D2", "decided", "")]
    assert verbs(6, 4) == verbs(4, 6)
    assert verbs(6, 7) == [("C1", "lifted", "lifted by the user")]
    assert verbs(7, None) == [("A1", "closed", "it works now"), ("D2", "dropped", "a typo"), ("D2", "reopened", "")]
    assert verbs(10, 20) == []


def test_the_history_of_an_item_has_what_it_replaced_and_what_replaced_it(told: Archive) -> None:
    for ref in ("D1", "D2"):
        found = [(event.item.alias, event.verb, event.quote) for event in history_of(told, ref)]
        assert found == [
            ("D1", "decided", "Use SQLite"),
            ("D1", "superseded", None),
            ("D2", "decided", "Use SQLite 3"),
            ("D2", "dropped", None),
            ("D2", "reopened", None),
        ]
    with pytest.raises(NotFoundError):
        history_of(told, "D99")
    for ref, kind in (("T1", "turn"), ("S1", "step"), ("K1", "compaction")):
        with pytest.raises(UsageError, match=f"{ref} is a {kind}.*`unified-state show {ref}`"):
            history_of(told, ref)


def test_a_proposal_is_told_as_accepted_or_rejected(archive: Archive, masker: Masker) -> None:
    body = {"decision": "Use SQLite", "rationale": "one file", "reversible": True}
    older = record_item(archive, DECISION, body, USER, now=at(1))
    for hour, text in ((2, "Use PostgreSQL"), (3, "Use MySQL")):
        edit(archive, "D1", {"decision": text}, AGENT, now=at(hour))
    assert held(archive, 3).keys() == {"D1", "D2", "D3"}
    accept(archive, ["D2"], USER, at(4))
    reject(archive, ["D3"], USER, at(5), why="no")
    found = [(one.item.alias, one.verb, one.origin) for one in history_of(archive, older.alias)]
    assert found == [
        ("D1", "decided", "user_said"),
        ("D2", "proposed", "inferred"),
        ("D3", "proposed", "inferred"),
        ("D1", "superseded", "user_said"),
        ("D2", "accepted", "user_said"),
        ("D3", "rejected", "user_said"),
    ]
    proposed = next(item for item, _ in items_at(archive, at(3)) if item.alias == "D2")
    assert (proposed.status, proposed.origin) == ("proposed", "inferred")


def test_who_closed_a_question_is_told_by_the_call_that_did(
    archive: Archive, masker: Masker, keep: Callable[..., None]
) -> None:
    keep(prompt(0, "Which port?"))
    record_item(
        archive,
        QUESTION,
        {"question": "Which port?", "context": "x", "priority": "low"},
        AGENT,
        now=NOW,
    )
    command = 'unified-state question resolve Q1 "Port 8080"'
    keep(
        prompt(60, "8080"), answer(61, call("c1", "Bash", command=command)), result(62, "c1", "Q1"), prompt(90, "go on")
    )
    close(archive, "Q1", "Port 8080", AGENT, now=NOW + 61_500)
    first, last = history_of(archive, "Q1")
    assert (first.turn, last.turn, last.verb) == ("T1", "T2", "answered")
    assert (last.origin, last.session_id) == ("inferred", SESSION)


def test_a_turn_of_another_session_that_names_the_item_is_not_told_as_its_author(
    archive: Archive, masker: Masker, keep: Callable[..., None]
) -> None:
    keep(prompt(0, "Which port?"))
    keep(
        prompt(60, "look", session="other"),
        answer(61, call("c1", "Bash", command="unified-state show Q1 Q2"), session="other"),
        session="other",
    )
    for author in (AGENT, USER):
        body = {"question": "Which port?", "context": "x", "priority": "low"}
        item = record_item(archive, QUESTION, body, AGENT, now=NOW)
        close(archive, item.alias, "Port 8080", author, now=NOW + 62_000)
    assert [history_of(archive, ref)[-1].turn for ref in ("Q1", "Q2")] == ["T1", None]


def test_points_are_compactions_turns_dates_and_commits(
    archive: Archive, git: Callable[..., str], repository: Path, keep: Callable[..., None]
) -> None:
    keep(prompt(0, "hello"))
    compaction = begin_compaction(archive, touch_session(archive, SESSION, NOW), NOW + 5)
    git("tag", "--annotate", "--message", "v1", "v1")
    commit = git("rev-parse", "HEAD").strip()
    committed = int(git("show", "--no-patch", "--format=%ct").strip()) * 1000 + 999
    place = find_repository(str(repository))
    found = {
        name: find_point(archive, place, name, NOW)
        for name in (f"K{compaction.id}", "T1", "2026-03-14", "2h", commit, commit[:8], "HEAD", "main", "v1", "@")
    }
    assert [point.at for point in found.values()] == [
        *(NOW + 5, NOW, 1_773_446_400_000, NOW - 2 * HOUR),
        *([committed] * 6),
    ]
    assert {point.commit for point in list(found.values())[4:]} == {commit}
    for name in ("K99", "T99", "nothing", "--all", "-1", "main..main", "", "a\nb", "HEAD~9", "S1", "D1", "\0"):
        with pytest.raises(NotFoundError):
            find_point(archive, place, name, NOW)


def test_what_was_recorded_before_a_commit_held_at_it(
    repository: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    manager = UnifiedStateManager(repository)
    wait_for_the_next_second()
    git("switch", "--quiet", "--create", "feature")
    git("commit", "--quiet", "--allow-empty", "--message", "of the feature")
    manager.add_decision("Use Redis", "fast")
    git("switch", "--quiet", "main")
    manager.add_decision("Use SQLite", "one file")
    wait_for_the_next_second()
    git("commit", "--quiet", "--allow-empty", "--message", "after both")
    found = shown(capsys, "list", "--at", "HEAD")
    assert [one["id"] for one in found["state"]["decisions"]] == ["D1", "D2"]
    assert shown(capsys, "list", "--at", "HEAD~1")["state"]["decisions"] == []
    assert [entry.id for entry in manager.entries_at("HEAD")] == ["D1", "D2"]
    assert [event["ref"] for event in manager.history("HEAD~1", "HEAD")] == ["D1", "D2"]
    assert shown(capsys, "diff", "HEAD~1", "HEAD")["events"] == manager.history("HEAD~1", "HEAD")
    assert shown(capsys, "diff", "HEAD~1", "now")["events"] == manager.history("HEAD~1")
    assert shown(capsys, "history", "D1") == manager.history("D1")
    assert run(["list", "--at", "HEAD"]) == 0
    assert "D1 (inferred): Use Redis. Why: fast" in capsys.readouterr().out


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command prints as JSON."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def wait_for_the_next_second() -> None:
    """Git counts in seconds, and what is recorded in the second of a commit counts as before it."""
    time.sleep(1.01 - time.time() % 1)
