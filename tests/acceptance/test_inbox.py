"""The inbox shows what waits, decides on several at once, and the user learns once that something waits."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Prepared
from .product import Project
from .transcripts import Transcript

AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}
SUMMARY = """The tests pass.
```unified-state
constraint: Always run make lint
constraint: Never touch migrations/
```"""


def session() -> Transcript:
    written = Transcript("s")
    written.prompt("Go on.")
    written.selects("Which store?", "Files")
    written.compaction(SUMMARY)
    return written


def fill_waiting(project: Project, folder: Path) -> None:
    """Rules that a summary reports, an answer that was not sent, and proposals to change, to lift and to drop."""
    assert project.run("constraint", "add", "Never push", "--source", "me").code == 0
    project.decide("Use SQLite")
    project.keep(session(), folder / "s.jsonl")
    program = (
        "from unified_state import UnifiedStateManager as M; m = M();"
        "m.edit(RULE, constraint='Push to branches only'); m.propose_lift(RULE)"
    )
    rule = next(item["id"] for item in project.ask("constraint", "list") if item["constraint"] == "Never push")
    done = project.execute((sys.executable, "-c", program.replace("RULE", repr(rule))), "", {})
    assert done.code == 0, done
    assert project.run("drop", "D1", **AGENT).code == 2


@pytest.fixture
def waiting(prepared: Prepared) -> Project:
    return prepared(fill_waiting)


def ids(project: Project, text: str) -> str:
    (found,) = [item["id"] for item in project.ask("inbox") if text in json.dumps(item)]
    return str(found)


def statuses(project: Project) -> dict[str, str]:
    done = project.run("export", "--items")
    return {item["alias"]: item["status"] for item in map(json.loads, done.out.splitlines())}


def test_the_inbox_lists_what_waits_with_its_quote_and_where_it_came_from(waiting: Project) -> None:
    shown = waiting.run("inbox").out
    assert "Never touch migrations/" in shown
    assert 'from ""Which store?"="Files"" (T1, answer, ' in shown
    assert "    recorded just now\n" in shown  # a program's proposal, of no turn
    assert "from (just now)" not in shown
    (item,) = [item for item in waiting.ask("inbox") if "Which store?" in item.get("decision", "")]
    assert (item["turn"], item["session_id"], item["rule"]) == ("T1", "s", "answer")
    assert item["quote"] == '"Which store?"="Files"'


def test_the_inbox_tells_what_a_proposal_would_change_lift_or_drop(waiting: Project) -> None:
    shown = waiting.run("inbox").out
    assert 'constraint: "Never push" -> "Push to branches only"' in shown
    assert "lifts " in shown
    assert "drops D1: Use SQLite" in shown
    (item,) = [item for item in waiting.ask("inbox") if item.get("constraint") == "Push to branches only"]
    assert item["changes"][0]["fields"] == {"constraint": {"from": "Never push", "to": "Push to branches only"}}


def test_several_are_accepted_at_once_with_one_question(waiting: Project) -> None:
    refs = [ids(waiting, text) for text in ("Always run make lint", "Never touch migrations/")]
    before = statuses(waiting)
    assert waiting.at_terminal("inbox", "accept", *refs, answer="no").code == 2
    assert statuses(waiting) == before
    done = waiting.at_terminal("inbox", "accept", *refs)
    assert (done.code, done.out.split()) == (0, refs)
    assert {ref: statuses(waiting)[ref] for ref in refs} == dict.fromkeys(refs, "active")
    assert waiting.at_terminal("undo").code == 0
    assert statuses(waiting) == before


def test_several_are_accepted_together_or_not_at_all(waiting: Project) -> None:
    rule, decision = ids(waiting, "Always run make lint"), ids(waiting, '"Drop D1: Use SQLite"')
    before = statuses(waiting)
    for wrong in ("C99", "D1"):
        assert waiting.at_terminal("inbox", "accept", decision, rule, wrong).code in {1, 2}
        assert waiting.run("inbox", "accept", decision, wrong).code in {1, 2}
    assert waiting.run("inbox", "accept", decision, rule).code == 2
    assert statuses(waiting) == before
    assert waiting.run("inbox", "accept", decision).code == 0
    assert statuses(waiting)["D1"] == "superseded"


def test_two_changes_of_one_rule_are_not_accepted_together(waiting: Project) -> None:
    done = waiting.at_terminal("inbox", "accept", "--all")
    assert (done.code, " both change " in done.err) == (2, True)
    lift = ids(waiting, "Lift ")
    assert waiting.at_terminal("inbox", "reject", lift).code == 0
    assert waiting.at_terminal("inbox", "accept", "--all").code == 0
    assert waiting.ask("inbox") == []
    done = waiting.run("inbox", "accept", "--all")
    assert (done.code, done.out, "the inbox is empty" in done.err) == (0, "", True)


def test_reject_keeps_the_reason_and_it_is_not_proposed_again(waiting: Project, tmp_path: Path) -> None:
    ref = ids(waiting, "Never touch migrations/")
    assert waiting.at_terminal("inbox", "reject", ref, "--why", "they move").code == 0
    found = waiting.ask("show", ref)
    assert (found["status"], found["body"]["resolution"]) == ("dismissed", "they move")
    waiting.keep(session(), tmp_path / "again.jsonl")
    assert statuses(waiting)[ref] == "dismissed"
    assert waiting.at_terminal("reopen", ref).code == 0
    assert statuses(waiting)[ref] == "proposed"


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_an_agent_decides_nothing(waiting: Project, verb: str) -> None:
    before = statuses(waiting)
    for refs in (["--all"], [ids(waiting, "Drop D1")], [ids(waiting, "Never touch")]):
        for done in (waiting.run("inbox", verb, *refs, **AGENT), waiting.at_terminal("inbox", verb, *refs, **AGENT)):
            assert (done.code, "only the user" in done.err, done.err.count("\n")) == (2, True, 1), done
    assert statuses(waiting) == before


def started(project: Project, session_id: str, source: str = "startup") -> str:
    """What the user sees of a session start."""
    done = project.hook("SessionStart", "brief", session_id=session_id, source=source)
    assert (done.code, project.log()) == (0, "")
    answer: dict[str, Any] = json.loads(done.out) if done.out else {}
    return str(answer.get("systemMessage", ""))


def test_the_user_learns_once_ever_that_something_waits(waiting: Project) -> None:
    told = started(waiting, "new")
    assert told.count("\n") == 0
    assert told == "6 recorded items wait for confirmation (unified-state inbox)"
    for session in ("new", "another", "a third"):
        for source in ("startup", "compact", "resume", "clear"):
            assert "inbox" not in started(waiting, session, source)
    assert waiting.run("drop", waiting.decide("Use tabs"), CLAUDECODE="1").code == 2  # an agent's attempt waits
    told = started(waiting, "another")
    assert told == "1 recorded item waits for confirmation (unified-state inbox)"  # the others were told
    assert started(waiting, "a fourth") == ""
