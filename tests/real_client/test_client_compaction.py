"""What the product relies on when the client compacts: which hooks run, what they know, where their text arrives."""

from __future__ import annotations

import time

import pytest

from .hooks import additional_context
from .messages import Request, bash, reply
from .mock_api import SUMMARY
from .scenario import ALLOW_BASH, AUTO_COMPACT, NEW_MODEL, OLD_MODEL, Scenario
from .transcript import attachments, tool_results

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])


def grow_until_compaction(scenario: Scenario) -> None:
    """Four tool calls; the API says the conversation grew over the threshold."""
    sizes = (20_000, 40_000, 60_000, 90_000)
    scenario.script(*(reply(bash(f"echo round-{n}"), input_tokens=size) for n, size in enumerate(sizes)), "done")


def thought_over(_: Request) -> str:
    """A summary that took longer than the client takes to write its transcript, as each real one does."""
    time.sleep(0.5)
    return SUMMARY


@MODELS
def test_the_newest_round_survives_an_automatic_compaction_verbatim(scenario: Scenario) -> None:
    grow_until_compaction(scenario)
    scenario.prompt("go", *ALLOW_BASH, *AUTO_COMPACT)

    request = scenario.api.of("main")[-1]
    assert request.find("MOCK-SUMMARY")
    assert [len(request.find(f"round-{n}")) for n in range(4)] == [0, 0, 0, 1]


def test_one_unit_too_many_leaves_only_a_preview_as_delivered(scenario: Scenario) -> None:
    text = "x" * 9_999 + "€E"
    scenario.hooks.record("SessionStart", stdout=additional_context("SessionStart", text))
    entries = scenario.transcript(scenario.prompt("first").session_id)

    (context,) = attachments(entries, "hook_additional_context")
    (printed,) = attachments(entries, "hook_success")
    assert "<persisted-output>" in context["content"][0]
    assert "€E" not in context["content"][0]
    assert "\\u20acE" in printed["stdout"]  # so a nonce found there proves nothing


@MODELS
def test_the_newest_tool_result_is_on_disk_when_the_restore_is_asked_for(scenario: Scenario) -> None:
    scenario.hooks.record("SessionStart")
    scenario.api.always("compact", thought_over)
    grow_until_compaction(scenario)
    scenario.prompt("go", *ALLOW_BASH, *AUTO_COMPACT)

    _, compaction = scenario.hooks.calls("SessionStart")
    assert len(tool_results(compaction.entries_on_disk())) == 4


def test_exit_status_2_of_precompact_blocks_a_manual_compaction(scenario: Scenario) -> None:
    scenario.hooks.record("PreCompact", stderr="not now", exit_status=2)
    session = scenario.prompt("first").session_id

    assert "Compaction blocked by PreCompact hook" in scenario.prompt("/compact", resume=session).result
    assert scenario.api.of("compact") == []
