"""Each arm of the experiment in the client itself: what it gives stands in the request after a compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.arm_setup import set_up
from evaluation.arms import ARMS
from evaluation.dry_run.client import last_request
from evaluation.dry_run.stories import Story, decision_stories, find_works
from evaluation.tasks import find_tasks
from tests.acceptance.transcripts import Transcript
from tests.sandboxed.product import Product

from .scenario import Scenario

ROOT = Path(__file__).parents[2]
PLACEBO = "[CONTEXT RESTORED] Of another project: the lathe turns clockwise."
SUMMARY = "This session is being continued.\n\n1. Work: the cache is half done."
STANDS = {
    "bare": [],
    "placebo": ["the lathe turns clockwise"],
    "tail": ["user: Turn 11:", "assistant: "],
    "native": ["Note of the session: the cache is cold."],
    "grep": ["Grep it for what was said"],
    "unified-state": ["[CONTEXT RESTORED]", "[ARCHIVE]", "[LAST STEPS]"],
}
LEFT_OUT = {
    "no-rules": "[USER]",
    "no-working-set": "[LAST STEPS]",
    "no-found": "[SAID]",
    "no-at-the-prompt": "[RELEVANT]",
}


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """Our task `invoices`, with work made here."""
    written = Transcript("5e550000-0000-4000-8000-000000000001")
    note = {"file_path": "/home/dev/proj/CLAUDE.md", "content": "Note of the session: the cache is cold."}
    written.call("Write", note, "written")
    for turn in range(12):
        written.turn(turn)
    written.compaction(SUMMARY)
    written.write(tmp_path / "transcripts" / "session.jsonl")
    tasks = find_tasks(ROOT / "evaluation" / "own_tasks")
    return decision_stories(tasks[:1], find_works(tmp_path / "transcripts"), 1)[0]


@pytest.mark.parametrize("arm", ARMS)
def test_what_an_arm_gives_stands_in_the_clients_request_and_nothing_else(
    scenario: Scenario, story: Story, arm: str
) -> None:
    set_up(scenario, arm, 500, PLACEBO)
    text = last_request(scenario, story, arm)
    wanted = STANDS.get(arm, STANDS["unified-state"] if arm != "no-working-set" else STANDS["unified-state"][:2])
    for mark in wanted:
        assert mark in text, mark
    for mark in {mark for marks in STANDS.values() for mark in marks} - {*wanted, "[CONTEXT RESTORED]", "assistant: "}:
        assert mark not in text, mark
    if arm in LEFT_OUT:
        assert LEFT_OUT[arm] not in text
    assert "the cache is half done" in text
    assert len(scenario.api.of("compact")) == 1


@pytest.mark.parametrize(("arm", "tells"), [("unified-state", True), ("no-found", True), ("no-rules", False)])
def test_a_rule_is_told_by_every_arm_of_ours_but_the_one_without_rules(
    scenario: Scenario, story: Story, arm: str, *, tells: bool
) -> None:
    set_up(scenario, arm, 0)
    Product(scenario).run("constraint", "add", "Version 1 of the API stays", "--source", "the user")
    assert ("Version 1 of the API stays" in last_request(scenario, story, arm)) is tells
