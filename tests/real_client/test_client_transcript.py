"""What the product relies on in the transcript: where tool results, queued messages and subagents are kept."""

from __future__ import annotations

import pytest

from .conversation import Conversation, calls_tool
from .messages import bash, reply, tool
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario
from .transcript import attachments, dialogue, read_entries, tool_results

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])


@MODELS
def test_the_last_message_is_written_while_the_stop_hook_runs(scenario: Scenario) -> None:
    scenario.script("the last message")
    scenario.hooks.record("Stop", seconds=1)
    scenario.prompt("first")

    (stop,) = scenario.hooks.calls()
    assert stop.event["last_assistant_message"] == "the last message"
    assert dialogue(stop.entries_on_disk()) == [("user", "first"), ("assistant", "the last message")]


def test_a_big_output_lies_byte_for_byte_in_a_file_when_the_tool_has_run(scenario: Scenario) -> None:
    call = bash("seq 100000 108570")
    scenario.script(reply(call))
    scenario.hooks.record("PostToolUse")
    session = scenario.prompt("first", *ALLOW_BASH).session_id

    (hook,) = scenario.hooks.calls()
    file = scenario.transcript_path(session).with_suffix("") / "tool-results"
    (saved,) = file.iterdir()
    assert hook.event["tool_response"]["persistedOutputPath"] == str(saved)
    assert saved.read_text() == "".join(f"{number}\n" for number in range(100_000, 108_571))
    assert str(saved) in tool_results(scenario.transcript(session))[call["id"]]["content"]


def test_a_big_output_of_a_failed_command_is_cut_for_good(scenario: Scenario) -> None:
    call = bash("seq 100000 108570; exit 3")
    scenario.script(reply(call))
    session = scenario.prompt("first", *ALLOW_BASH).session_id

    result = tool_results(scenario.transcript(session))[call["id"]]["content"]
    assert "characters truncated" in result
    assert not (scenario.transcript_path(session).with_suffix("") / "tool-results").exists()


@MODELS
def test_a_message_sent_while_a_tool_runs_is_an_attachment_and_passes_the_prompt_hook(scenario: Scenario) -> None:
    scenario.script(reply(bash("python3 -c 'import time; time.sleep(1)'")), reply(bash("echo")), "done")
    scenario.hooks.record("UserPromptSubmit")
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.send("first")
        client.wait_for(calls_tool)
        client.ask("by the way")

    entries = scenario.transcript(client.session_id)
    (queued,) = attachments(entries, "queued_command")
    assert queued["prompt"] == "by the way"
    assert ("user", "by the way") not in dialogue(entries)
    assert [call.event["prompt"] for call in scenario.hooks.calls()] == ["first", "by the way"]


@MODELS
def test_a_subagent_has_a_file_of_its_own_under_its_parent(scenario: Scenario) -> None:
    task = {"description": "a task", "prompt": "do it", "subagent_type": "general-purpose", "run_in_background": False}
    scenario.script(reply(tool("Agent", **task)), "done")
    scenario.api.script("subagent", reply(bash("echo inside")), "report")
    scenario.hooks.record("PreToolUse", "SubagentStop")
    session = scenario.prompt("first", *ALLOW_BASH).session_id

    outside, inside, stop = scenario.hooks.calls()
    agent = stop.event["agent_id"]
    file = scenario.transcript_path(session).with_suffix("") / f"subagents/agent-{agent}.jsonl"
    assert stop.event["agent_transcript_path"] == str(file)
    assert (outside.event.get("agent_id"), inside.event["agent_id"]) == (None, agent)
    assert {call.event["session_id"] for call in (outside, inside, stop)} == {session}
    conversation = [entry for entry in read_entries(file.read_bytes()) if entry["type"] in ("user", "assistant")]
    assert dialogue(conversation)[-1] == ("assistant", stop.event["last_assistant_message"])
    assert {(entry["sessionId"], entry["agentId"], entry["isSidechain"]) for entry in conversation} == {
        (session, agent, True)
    }


def test_a_mentioned_file_is_an_attachment_beside_the_prompt_as_typed(scenario: Scenario) -> None:
    (scenario.project / "note.txt").write_text("alpha\n")
    entries = scenario.transcript(scenario.prompt("read @note.txt").session_id)

    (file,) = attachments(entries, "file")
    assert file["content"]["file"]["content"] == "alpha\n"
    assert ("user", "read @note.txt") in dialogue(entries)


def test_commands_of_the_agent_know_client_and_session(scenario: Scenario) -> None:
    scenario.script(reply(bash("echo $CLAUDECODE $CLAUDE_CODE_SESSION_ID $CLAUDE_PID; echo $PPID")))
    session = scenario.prompt("first", *ALLOW_BASH).session_id

    (result,) = tool_results(scenario.transcript(session)).values()
    variables, parent = result["content"].splitlines()
    assert variables == f"1 {session} {parent}"
