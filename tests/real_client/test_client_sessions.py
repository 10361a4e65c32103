"""What the product relies on when sessions are resumed, forked, cleared and killed."""

from __future__ import annotations

import threading

import pytest

from .conversation import Conversation, calls_tool
from .messages import Request, bash, reply
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario
from .transcript import boundaries, dialogue, tool_results, uuids

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])


def test_a_resumed_session_grows_in_its_own_file(scenario: Scenario) -> None:
    scenario.script("one", "two")
    session = scenario.prompt("first").session_id
    before = scenario.transcript_path(session).read_bytes()

    assert scenario.prompt("second", resume=session).session_id == session
    assert scenario.transcript_path(session).read_bytes().startswith(before)


@MODELS
def test_a_fork_copies_the_entries_with_their_uuids_and_leaves_the_parent_alone(scenario: Scenario) -> None:
    parent = scenario.prompt("first").session_id
    before = scenario.transcript_path(parent).read_bytes()
    fork = scenario.prompt("second", resume=parent, fork=True).session_id

    copied = uuids(scenario.transcript(parent))
    assert fork != parent
    assert uuids(scenario.transcript(fork))[: len(copied)] == copied
    assert {entry["sessionId"] for entry in scenario.transcript(fork) if "sessionId" in entry} == {fork}
    assert scenario.transcript_path(parent).read_bytes() == before


@MODELS
def test_a_fork_of_a_compacted_session_holds_only_what_follows_the_boundary_and_names_its_origin(
    scenario: Scenario,
) -> None:
    with Conversation(scenario) as client:
        for prompt in ("first", "second", "/compact"):
            client.ask(prompt)
    parent = client.session_id
    fork = scenario.transcript(scenario.prompt("third", resume=parent, fork=True).session_id)

    assert len(boundaries(fork)) == 1
    assert ("user", "first") not in dialogue(fork)
    kept = next(entry for entry in fork if entry["type"] == "assistant")
    assert kept["requestSessionId"] == parent
    assert kept["uuid"] in uuids(scenario.transcript(parent))


@MODELS
def test_a_client_killed_in_a_tool_leaves_the_call_and_the_resume_says_that_the_outcome_is_unknown(
    scenario: Scenario,
) -> None:
    call = bash("tail -f /dev/null")
    scenario.script(reply(call))
    scenario.hooks.record("PreToolUse", seconds=0.5)  # the call is written 0.1 s after it was made
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.send("first")
        client.wait_for(calls_tool)
        scenario.hooks.wait_for("PreToolUse")
        client.kill()
    session = client.session_id
    before = scenario.transcript_path(session).read_bytes()
    assert tool_results(scenario.transcript(session)) == {}

    scenario.prompt("second", resume=session)

    assert scenario.transcript_path(session).read_bytes().startswith(before)
    result = tool_results(scenario.transcript(session))[call["id"]]
    assert result["is_error"]
    assert "its outcome is unknown" in result["content"]


def test_a_prompt_of_a_client_killed_at_once_is_only_in_the_hook(scenario: Scenario) -> None:
    scenario.hooks.record("UserPromptSubmit")
    asked = threading.Event()

    def never_answered(_: Request) -> str:
        asked.set()
        return "too late"

    scenario.script("one", never_answered)
    with Conversation(scenario) as client:
        client.ask("first")
        client.send("second")
        assert asked.wait(10)
        client.kill()

    assert [call.event["prompt"] for call in scenario.hooks.calls()] == ["first", "second"]


def test_a_half_line_stays_as_a_broken_line_in_the_middle(scenario: Scenario) -> None:
    session = scenario.prompt("first").session_id
    transcript = scenario.transcript_path(session)
    half = transcript.read_bytes() + b'{"type":"user","message":{"content":"half a'
    transcript.write_bytes(half)

    scenario.prompt("second", resume=session)

    assert transcript.read_bytes().startswith(half + b"\n{")


def test_clear_ends_the_old_session_before_it_starts_the_new_one_in_the_same_process(scenario: Scenario) -> None:
    scenario.hooks.record("SessionStart", "SessionEnd")
    with Conversation(scenario) as client:
        client.ask("first")
        client.ask("/clear")

    start, end, clear, last = scenario.hooks.calls()
    names = [call.name for call in (start, end, clear, last)]
    assert names == ["SessionStart:startup", "SessionEnd:clear", "SessionStart:clear", "SessionEnd:other"]
    assert end.event["session_id"] == start.event["session_id"] != clear.event["session_id"]
    assert {call.environment["CLAUDE_PID"] for call in (start, end, clear)} == {str(start.parent_process)}


def test_a_resume_is_another_process_of_the_same_session(scenario: Scenario) -> None:
    scenario.hooks.record("SessionStart")
    scenario.prompt("second", resume=scenario.prompt("first").session_id)

    first, second = scenario.hooks.calls()
    assert second.name == "SessionStart:resume"
    assert second.event["session_id"] == first.event["session_id"]
    assert second.environment["CLAUDE_PID"] != first.environment["CLAUDE_PID"]
