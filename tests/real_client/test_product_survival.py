"""What of the state survives a compaction in the client: what is recorded comes back, and what its summary reports."""

from __future__ import annotations

import json

import pytest

from .conversation import Conversation
from .installed import assert_healthy, installed_with_items, restores, rows
from .scenario import NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
SUMMARY = """<analysis>
D1 was discussed.
```unified-state
decision: Only thought of
```
</analysis>

<summary>
1. Decisions:
   - D1: Use SQLite for the archive
> ```unified-state
> decision: Quoted from a file
> ```
```unified-state
decision: Use pytest. Why: fixtures
constraint: No network in tests
next: write the changelog
```
</summary>"""
LINE = "The summary lost 2 recorded items; all 2 came back. `unified-state show K1`"
WAITS = "1 recorded item waits for confirmation (unified-state inbox)"


@MODELS
def test_what_the_summary_lost_comes_back_and_what_it_reports(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    scenario.api.script("compact", SUMMARY)
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second", "third"):
            client.ask(prompt)
    brief = next(text for text in restores(scenario.api.of("main")[-1]) if "[CONTEXT RESTORED]" in text)
    assert "  C1 (the user said, blocking): API v1" in brief
    assert "  D1 (the user said, irreversible): Use SQLite" in brief
    assert "  Q1 (the user said, high priority): Which port?" in brief
    assert_healthy(product)


def test_the_user_is_told_once_what_survived_and_what_waits(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    scenario.api.script("compact", SUMMARY)
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second", "third"):
            client.ask(prompt)
    shown = [event["content"] for event in client.events if event.get("subtype") == "informational"]
    assert shown == ["\n".join(f"SessionStart:compact says: {line}" for line in (LINE, WAITS))]
    assert json.loads(product.run("compactions", "K1", "--json"))["line"] == LINE


def test_what_the_block_reports_is_recorded_once_and_what_imitates_it_not_at_all(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    scenario.api.script("compact", SUMMARY)
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second"):
            client.ask(prompt)
    recorded = rows(scenario, "SELECT alias, status, origin FROM item WHERE rule = 'summary' ORDER BY id")
    assert recorded == [("D2", "active", "inferred"), ("C2", "proposed", "inferred")]
    assert rows(scenario, "SELECT text FROM note WHERE kind = 'action'") == [("write the changelog",)]
    assert "Use pytest" in product.run("decision", "list")
