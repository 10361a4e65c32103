"""What the product relies on when the client compacts: which hooks run, what they know, where their text arrives."""

from __future__ import annotations

import time

import pytest

from .conversation import Conversation
from .hooks import additional_context
from .messages import Failure, Request, bash, reply
from .mock_api import SUMMARY
from .scenario import ALLOW_BASH, AUTO_COMPACT, NEW_MODEL, OLD_MODEL, Scenario
from .transcript import attachments, boundaries, tool_results

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
COMPACTION_HOOKS = ("PreCompact", "SubagentStop", "StopFailure", "SessionStart", "PostCompact")
BRIEF, WORKING_SET = "BRIEF" * 2000, "WORK" * 2500  # 10,000 units each: the client's limit is per handler


def grow_until_compaction(scenario: Scenario) -> None:
    """Four tool calls; the API says the conversation grew over the threshold."""
    sizes = (20_000, 40_000, 60_000, 90_000)
    scenario.script(*(reply(bash(f"echo round-{n}"), input_tokens=size) for n, size in enumerate(sizes)), "done")


def restore(scenario: Scenario) -> None:
    for text in (BRIEF, WORKING_SET):
        scenario.hooks.record("SessionStart", matcher="compact", stdout=additional_context("SessionStart", text))


def thought_over(_: Request) -> str:
    """A summary that took longer than the client takes to write its transcript, as each real one does."""
    time.sleep(0.5)
    return SUMMARY


@MODELS
def test_both_restores_reach_the_model_whole_after_a_manual_compaction(scenario: Scenario) -> None:
    restore(scenario)
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second"):
            client.ask(prompt)

    request = scenario.api.of("main")[-1]
    assert [len(request.find(text)) for text in (BRIEF, WORKING_SET)] == [1, 1]
    assert {role for role, _ in request.find(BRIEF)} == {"system" if scenario.model == NEW_MODEL else "user"}


@MODELS
def test_both_restores_reach_the_model_whole_after_an_automatic_compaction(scenario: Scenario) -> None:
    restore(scenario)
    grow_until_compaction(scenario)
    scenario.prompt("go", *ALLOW_BASH, *AUTO_COMPACT)

    assert scenario.api.kinds() == ["main"] * 4 + ["compact", "main"]
    request = scenario.api.of("main")[-1]
    assert [len(request.find(text)) for text in (BRIEF, WORKING_SET)] == [1, 1]


@MODELS
def test_the_newest_round_survives_an_automatic_compaction_verbatim(scenario: Scenario) -> None:
    grow_until_compaction(scenario)
    scenario.prompt("go", *ALLOW_BASH, *AUTO_COMPACT)

    request = scenario.api.of("main")[-1]
    assert request.find("MOCK-SUMMARY")
    assert [len(request.find(f"round-{n}")) for n in range(4)] == [0, 0, 0, 1]


@MODELS
def test_the_summary_is_known_before_the_restore(scenario: Scenario) -> None:
    scenario.hooks.record(*COMPACTION_HOOKS)
    grow_until_compaction(scenario)
    scenario.prompt("go", *ALLOW_BASH, *AUTO_COMPACT)

    calls = scenario.hooks.calls()
    names = [call.name for call in calls]
    assert names == [
        "SessionStart:startup",
        "PreCompact:auto",
        "SubagentStop",
        "SessionStart:compact",
        "PostCompact:auto",
    ]
    assert calls[2].event["agent_type"] == ""
    assert "MOCK-SUMMARY" in calls[2].event["last_assistant_message"]


def test_what_precompact_prints_steers_the_summary(scenario: Scenario) -> None:
    scenario.hooks.record("PreCompact", stdout="The summary contains D1.")
    with Conversation(scenario) as client:
        client.ask("first")
        client.ask("/compact the tests")

    (request,) = scenario.api.of("compact")
    assert "Additional Instructions:\nthe tests\n\nThe summary contains D1." in request.last_user_text()


@MODELS
def test_a_delivered_restore_stands_behind_the_boundary_when_the_next_prompt_comes(scenario: Scenario) -> None:
    restore(scenario)
    scenario.hooks.record("UserPromptSubmit")
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second"):
            client.ask(prompt)

    entries = scenario.hooks.calls("UserPromptSubmit")[-1].entries_on_disk()
    (boundary,) = boundaries(entries)
    (context,) = attachments(entries[boundary:], "hook_additional_context")
    assert sorted(context["content"]) == sorted([BRIEF, WORKING_SET])


def test_one_unit_too_many_leaves_only_a_preview_as_delivered(scenario: Scenario) -> None:
    text = "x" * 9_999 + "€E"
    scenario.hooks.record("SessionStart", stdout=additional_context("SessionStart", text))
    entries = scenario.transcript(scenario.prompt("first").session_id)

    (context,) = attachments(entries, "hook_additional_context")
    (printed,) = attachments(entries, "hook_success")
    assert "<persisted-output>" in context["content"][0]
    assert "€E" not in context["content"][0]
    assert "\\u20acE" in printed["stdout"]  # so a nonce found there proves nothing


def test_compaction_hooks_cannot_see_the_boundary_yet(scenario: Scenario) -> None:
    scenario.hooks.record(*COMPACTION_HOOKS)
    with Conversation(scenario) as client:
        client.ask("first")
        client.ask("/compact")

    assert [boundaries(call.entries_on_disk()) for call in scenario.hooks.calls()] == [[]] * 5


@MODELS
def test_the_newest_tool_result_is_on_disk_when_the_restore_is_asked_for(scenario: Scenario) -> None:
    scenario.hooks.record("SessionStart")
    scenario.api.always("compact", thought_over)
    grow_until_compaction(scenario)
    scenario.prompt("go", *ALLOW_BASH, *AUTO_COMPACT)

    _, compaction = scenario.hooks.calls("SessionStart")
    assert len(tool_results(compaction.entries_on_disk())) == 4


@MODELS
def test_a_failed_compaction_ends_with_stop_failure_and_no_restore(scenario: Scenario) -> None:
    scenario.hooks.record(*COMPACTION_HOOKS)
    scenario.environment["CLAUDE_CODE_MAX_RETRIES"] = "0"
    scenario.api.always("compact", Failure(500, "no summary today", "api_error"))
    with Conversation(scenario) as client:
        client.ask("first")
        (result,) = [event for event in client.ask("/compact") if event.get("compact_result")]
        scenario.hooks.wait_for("StopFailure")  # the client does not, and would end without it

    assert result["compact_result"] == "failed"
    assert [call.name for call in scenario.hooks.calls()] == [
        "SessionStart:startup",
        "PreCompact:manual",
        "StopFailure",
    ]
    assert boundaries(scenario.transcript(client.session_id)) == []


def test_exit_status_2_of_precompact_blocks_a_manual_compaction(scenario: Scenario) -> None:
    scenario.hooks.record("PreCompact", stderr="not now", exit_status=2)
    session = scenario.prompt("first").session_id

    assert "Compaction blocked by PreCompact hook" in scenario.prompt("/compact", resume=session).result
    assert scenario.api.of("compact") == []
