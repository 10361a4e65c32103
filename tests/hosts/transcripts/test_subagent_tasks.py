from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import SESSION, Entry, answer, append, call, prompt, result, write_transcript
from unified_state.hosts.transcripts.subagent_tasks import has_begun, tasks_of

AGENT, OTHER = "a1b2c3d4e5f60718", "affffffffffffffff"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A transcript with a prompt."""
    return write_transcript(tmp_path / f"{SESSION}.jsonl", prompt(1, "delegate it"))


def asks(identity: str, task: str, agent_type: str | None = "general-purpose", tool: str = "Agent") -> Entry:
    """A block that calls for a subagent."""
    kind = {} if agent_type is None else {"subagent_type": agent_type}
    return call(identity, tool, description="a task", prompt=task, **kind)


def tasks(transcript: Path, agent_type: str | None = "general-purpose") -> list[str]:
    """What the agent may be asked to do, without the description."""
    return [task.removeprefix("a task\n") for task in tasks_of(str(transcript), AGENT, agent_type)]


def note_begun(transcript: Path, agent: str, tool_use_id: str) -> None:
    """What the client writes beside the transcript of a subagent that has begun."""
    folder = transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True, exist_ok=True)
    record = {"agentType": "general-purpose", "toolUseId": tool_use_id}
    (folder / f"agent-{agent}.meta.json").write_text(json.dumps(record), encoding="utf-8")


@pytest.mark.parametrize("tool", ["Agent", "Task"])
def test_a_call_without_a_result_is_the_task(transcript: Path, tool: str) -> None:
    append(transcript, answer(2, "I ask.", asks("t1", "do it", tool=tool)))
    assert tasks(transcript) == ["do it"]


def test_a_call_without_a_type_is_for_the_usual_one(transcript: Path) -> None:
    append(transcript, answer(2, asks("t1", "do it", None)))
    assert tasks(transcript) == ["do it"]
    assert tasks(transcript, "Explore") == []


def test_of_parallel_calls_those_for_the_type_count(transcript: Path) -> None:
    append(transcript, answer(2, asks("t1", "one"), asks("t2", "two"), asks("t3", "three", "Explore")))
    assert tasks(transcript) == ["one", "two"]
    assert tasks(transcript, "Explore") == ["three"]


def test_a_call_whose_subagent_has_begun_is_taken(transcript: Path) -> None:
    append(transcript, answer(2, asks("t1", "one"), asks("t2", "two")))
    note_begun(transcript, OTHER, "t1")
    assert tasks(transcript) == ["two"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"toolUseId": 7}', "\x00\xff"])
def test_a_damaged_record_of_a_subagent_is_none(transcript: Path, content: str) -> None:
    append(transcript, answer(2, asks("t1", "one")))
    note_begun(transcript, OTHER, "t1")
    (transcript.with_suffix("") / f"subagents/agent-{OTHER}.meta.json").write_text(content, encoding="latin-1")
    assert tasks(transcript) == ["one"]


def test_a_call_that_has_its_result_is_done_with(transcript: Path) -> None:
    append(
        transcript, answer(2, asks("t1", "one")), result(3, "t1", "denied", is_error=True), answer(4, asks("t2", "two"))
    )
    assert tasks(transcript) == ["two"]


def test_a_result_that_names_the_agent_tells_its_call(transcript: Path) -> None:
    started = {"status": "async_launched", "agentId": AGENT}
    append(
        transcript,
        answer(2, asks("t1", "one"), asks("t2", "two")),
        {**result(3, "t2", "started"), "toolUseResult": started},
    )
    assert tasks(transcript) == ["two"]


def test_the_parent_may_be_a_subagent(transcript: Path) -> None:
    append(transcript, answer(2, asks("t1", "outer")))
    note_begun(transcript, OTHER, "t1")
    parent = transcript.with_suffix("") / f"subagents/agent-{OTHER}.jsonl"
    write_transcript(parent, answer(3, asks("t2", "inner"), isSidechain=True, agentId=OTHER))
    assert tasks(transcript) == ["inner"]


def test_a_line_that_is_being_written_is_not_read(transcript: Path) -> None:
    with transcript.open("ab") as file:
        file.write(json.dumps(answer(2, asks("t1", "one"))).encode()[:-1])
    assert tasks(transcript) == []


def test_of_a_long_transcript_the_end_is_read(transcript: Path) -> None:
    append(transcript, *(answer(number, "x" * 10_000) for number in range(2, 90)), answer(90, asks("t1", "do it")))
    assert tasks(transcript) == ["do it"]


@pytest.mark.parametrize("odd", [None, 7, [], "x", {"prompt": 7}, {"prompt": {"a": []}, "subagent_type": ["b"]}])
def test_a_call_of_an_odd_shape_does_no_harm(transcript: Path, odd: object) -> None:
    append(transcript, answer(2, {"type": "tool_use", "id": 7, "name": "Agent", "input": odd}, asks("t1", "do it")))
    assert "do it" in tasks(transcript)


def test_without_a_transcript_there_is_no_task(tmp_path: Path) -> None:
    assert tasks(tmp_path / "none.jsonl") == []
    assert tasks(tmp_path) == []


def test_a_subagent_with_a_transcript_has_begun(transcript: Path) -> None:
    note_begun(transcript, AGENT, "t1")
    assert not has_begun(str(transcript), AGENT)
    write_transcript(transcript.with_suffix("") / f"subagents/agent-{AGENT}.jsonl", prompt(1, "x"))
    assert has_begun(str(transcript), AGENT)
    assert not has_begun(str(transcript), OTHER)


def test_what_the_client_writes_of_the_subagent_itself_takes_nothing_from_it(transcript: Path) -> None:
    append(transcript, answer(2, asks("t1", "one")))
    note_begun(transcript, AGENT, "t1")
    assert tasks(transcript) == ["one"]
