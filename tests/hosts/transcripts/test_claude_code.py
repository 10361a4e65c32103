"""Entries as the client writes them, and what is read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, Entry, answer, any_json, boundary, call, entry, prompt, result, summary, uuid_of
from unified_state.hosts.transcripts.claude_code import EntryReader, read_entry
from unified_state.lib.fence import fenced
from unified_state.model.step import (
    ATTACHMENT,
    KINDS,
    NOTICE,
    PROMPT,
    TEXT,
    THINKING,
    TOOL_CALL,
    TOOL_RESULT,
    Boundary,
    Delivery,
    Step,
    Summary,
)

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def steps(value: dict[str, Any]) -> list[Step]:
    return [found for found in read_entry(value) if isinstance(found, Step)]


def told(value: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step.kind, step.text) for step in steps(value)]


def test_a_prompt_opens_a_turn() -> None:
    (step,) = steps(prompt(7, "fix it"))
    assert step == Step(uuid=uuid_of(7), block=0, kind=PROMPT, at=NOW + 7000, text="fix it", starts_turn=True)


@pytest.mark.parametrize(
    "text",
    [
        "<task-notification>done</task-notification>",
        "<command-name>/model</command-name>",
        "<command-message>x",
        "  <teammate-message from='a'>",
    ],
)
def test_what_the_client_puts_in_the_users_place_and_is_answered_is_a_notice_that_opens_a_turn(text: str) -> None:
    (step,) = steps(prompt(1, text))
    assert (step.kind, step.starts_turn) == (NOTICE, True)


@pytest.mark.parametrize(
    "text",
    [
        "<local-command-stdout>ok",
        "<bash-stdout>ok",
        "<bash-stderr>bad",
        "<system-reminder>remember",
        "[Request interrupted by user]",
    ],
)
def test_what_the_client_puts_there_and_nobody_answers_opens_no_turn(text: str) -> None:
    (step,) = steps(prompt(1, text))
    assert (step.kind, step.starts_turn) == (NOTICE, False)


@pytest.mark.parametrize(
    ("fields", "starts_turn"),
    [
        ({"isMeta": True}, False),
        ({"repeatsCompactSummary": True}, True),
        ({"origin": {"kind": "task-notification"}}, True),
    ],
)
def test_what_the_client_marks_as_its_own_is_a_notice(fields: dict[str, Any], starts_turn: bool) -> None:
    (step,) = steps(prompt(1, "any text", **fields))
    assert (step.kind, step.starts_turn) == (NOTICE, starts_turn)


@pytest.mark.parametrize("origin", [None, {"kind": "human"}, {}, "human"])
def test_what_the_user_typed_is_a_prompt_whatever_else_is_said_of_it(origin: object) -> None:
    assert told(prompt(1, "fix it", origin=origin)) == [(PROMPT, "fix it")]


def test_an_answer_is_its_thinking_its_text_and_its_calls() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
    found = steps(answer(3, thinking, "I look", call("toolu_1", "Read", file_path="ä.py")))
    assert [(step.block, step.kind, step.text, step.tool, step.tool_use_id) for step in found] == [
        (0, THINKING, "hm", None, None),
        (1, TEXT, "I look", None, None),
        (2, TOOL_CALL, '{"file_path":"ä.py"}', "Read", "toolu_1"),
    ]


def test_a_tool_result_is_kept_once_without_the_clients_copy() -> None:
    (step,) = steps(result(4, "toolu_1", "no such file", is_error=True))
    assert (step.kind, step.text, step.tool_use_id, step.is_error) == (TOOL_RESULT, "no such file", "toolu_1", True)


def test_the_images_of_a_tool_result_have_numbers_of_their_own() -> None:
    found = steps(result(4, "toolu_1", [{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}]))
    assert [(step.block, step.kind, step.text) for step in found] == [
        (0, TOOL_RESULT, "a\nb"),
        (1001, ATTACHMENT, "data:image/png;base64,aGk="),
    ]
    assert found[1].tool_use_id == "toolu_1"
    assert not found[1].starts_turn


@pytest.mark.parametrize(
    ("fields", "agent"),
    [
        ({"isSidechain": True, "agentId": "a1"}, "a1"),
        ({"isSidechain": True}, "sidechain"),
        ({"isSidechain": True, "agentId": 5}, "sidechain"),
        ({"agentId": "a1"}, None),
    ],
)
def test_a_subagents_step_says_so(fields: dict[str, Any], agent: str | None) -> None:
    (step,) = steps({**answer(1, "done"), **fields})
    assert step.agent == agent


def test_what_was_typed_while_the_agent_worked_is_a_prompt() -> None:
    attachment = {"type": "queued_command", "prompt": "and this", "origin": {"kind": "human"}}
    assert told(entry(1, "attachment", attachment=attachment)) == [(PROMPT, "and this")]


@pytest.mark.parametrize("fields", [{"isApiErrorMessage": True}, {"message": {"model": "<synthetic>"}}])
def test_an_error_of_the_api_is_no_answer(fields: dict[str, Any]) -> None:
    error = answer(1, "You've hit your session limit")
    error["message"].update(fields.pop("message", {}))
    assert told({**error, **fields}) == [(NOTICE, "You've hit your session limit")]


@pytest.mark.parametrize("kind", ["teammate_mailbox", "poll_events", "task_status"])
def test_news_that_the_client_gave_the_agent_are_kept(kind: str) -> None:
    attachment = {"type": kind, "messages": [{"from": "ada", "text": "CI is red"}]}
    assert told(entry(1, "attachment", attachment=attachment)) == [(NOTICE, "ada\nCI is red")]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (entry(1, "teleport", content={"said": "CI is red"}), "teleport"),
        ({"type": "teleport", "sessionId": "s", "note": "CI is red"}, "teleport"),
        (entry(1, "attachment", attachment={"type": "beacon", "text": "CI is red"}), "attachment beacon"),
        (entry(1, "system", subtype="oracle", content="CI is red"), "system oracle"),
        (entry(1, "user", message={"content": [{"type": "hologram", "text": "CI is red"}]}), "block hologram"),
        (answer(1, {"type": "hologram", "text": "CI is red"}), "block hologram"),
    ],
)
def test_the_text_of_an_unknown_kind_is_a_notice_with_its_name(value: Entry, kind: str) -> None:
    (step,) = steps(value)
    assert (step.kind, step.tool) == (NOTICE, f"unknown kind: {kind}")
    assert step.text.endswith("CI is red")


def test_a_title_a_tag_and_a_link_are_notices_once_from_the_first_step_on() -> None:
    named = {"type": "custom-title", "customTitle": "JAGUAR refactor", "sessionId": "s"}
    link = {"type": "pr-link", "prUrl": "https://github.com/a/b/pull/7", "prNumber": 7, "sessionId": "s"}
    reader = EntryReader()
    read = (one for entry in (named, prompt(1, "go"), link, named) for one in reader.read(entry))
    found = [one for one in read if isinstance(one, Step)]
    assert [(step.kind, step.tool, step.text, step.at) for step in found] == [
        (PROMPT, None, "go", NOW + 1000),
        (NOTICE, "custom-title", "JAGUAR refactor", NOW + 1000),
        (NOTICE, "pr-link", "https://github.com/a/b/pull/7", NOW + 1000),
        (NOTICE, "custom-title", "JAGUAR refactor", NOW + 1000),
    ]
    assert found[1].uuid == found[3].uuid


def test_the_result_of_a_tool_that_the_api_ran_is_kept() -> None:
    block = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"title": "FTS5", "url": "x.org"}]}
    assert told(answer(1, block)) == [(TOOL_RESULT, "FTS5\nx.org")]


def queued(operation: str, at: int, content: str | None = None) -> Entry:
    more = {} if content is None else {"content": content}
    return {"type": "queue-operation", "operation": operation, "sessionId": "s", "timestamp": f"2026-01-0{at}", **more}


TYPED = entry(1, "attachment", attachment={"type": "queued_command", "prompt": "One."})
TASK = queued("enqueue", 1, '{"task_id":"b1","status":"completed"}')
ONE, TWO, REMOVED = queued("enqueue", 1, "One."), queued("enqueue", 2, "Two."), queued("remove", 3)


@pytest.mark.parametrize(
    ("entries", "prompts"),
    [
        ([ONE, REMOVED], ["One."]),
        ([ONE, TWO, REMOVED, REMOVED], ["One.", "Two."]),
        ([ONE, TYPED, REMOVED], ["One."]),
        ([ONE, REMOVED, TYPED], ["One."]),
        ([ONE, TWO, TYPED, REMOVED], ["One."]),
        ([ONE, queued("dequeue", 2), prompt(1, "One.")], ["One."]),
        ([ONE, queued("popAll", 2, "One."), REMOVED], []),
        ([queued("enqueue", 1, "/context"), REMOVED], []),
        ([TASK, REMOVED], []),
        ([TASK, ONE, REMOVED], ["One."]),
        ([queued("enqueue", 2, "<task-notification>"), ONE, REMOVED], ["One."]),
        ([ONE, TWO, queued("dequeue", 3), prompt(1, "One."), REMOVED], ["One.", "Two."]),
        ([REMOVED], []),
    ],
)
def test_a_message_that_is_told_in_the_queue_alone_is_a_prompt_once(entries: list[Entry], prompts: list[str]) -> None:
    reader = EntryReader()
    found = [step for one in [*entries, answer(9, "done")] for step in reader.read(one) if isinstance(step, Step)]
    assert [step.text for step in found] == [*prompts, "done"]
    assert [step.kind for step in found] == [PROMPT] * len(prompts) + [TEXT]


NOTIFICATION = (
    "<task-notification>\n<task-id>b12</task-id>\n<tool-use-id>toolu_2</tool-use-id>\n<status>{}</status>\n"
    '<summary>Background command "make" failed with exit code 2</summary>\n</task-notification>'
)


@pytest.mark.parametrize("queued", [False, True])
@pytest.mark.parametrize(("status", "ends"), [("failed", [True]), ("completed", [False]), ("killed", [])])
def test_a_notification_ends_the_call_that_it_tells_of(status: str, ends: list[bool], *, queued: bool) -> None:
    text, origin = NOTIFICATION.format(status), {"kind": "task-notification"}
    attachment = {"type": "queued_command", "prompt": text, "origin": origin}
    told, *results = steps(entry(1, "attachment", attachment=attachment) if queued else prompt(1, text, origin=origin))
    assert told.kind == NOTICE
    assert [(step.kind, step.tool_use_id, step.is_error) for step in results] == [
        (TOOL_RESULT, "toolu_2", failed) for failed in ends
    ]
    assert all(step.text == 'Background command "make" failed with exit code 2' for step in results)


def test_a_notification_in_the_queue_ends_the_command_of_its_task_once() -> None:
    text, reader = NOTIFICATION.format("failed"), EntryReader()
    runs = "Command running in background with ID: b12. Output is being written to: x"
    entries = [queued("enqueue", 1, text), result(2, "toolu_9", runs), answer(3, "on it")]
    started, ended, _ = (step for one in entries for step in reader.read(one) if isinstance(step, Step))
    assert (started.text, ended.tool_use_id, ended.is_error) == (runs, "toolu_9", True)
    _, told_again = reader.read(prompt(4, text, origin={"kind": "task-notification"}))
    assert isinstance(told_again, Step)
    assert (told_again.uuid, told_again.block) == (ended.uuid, ended.block)


@pytest.mark.parametrize(("name", "kept"), [("b12.output", "\nFAILED test_x"), ("passwd", ""), ("gone/b12.output", "")])
def test_a_notification_brings_the_output_of_its_task(tmp_path: Path, name: str, kept: str) -> None:
    for file in ("b12.output", "passwd"):
        (tmp_path / file).write_text("FAILED test_x\n")
    path = f"<output-file>{tmp_path / name}</output-file>\n<status>"
    text = NOTIFICATION.format("failed").replace("<status>", path)
    _, ended = steps(prompt(1, text, origin={"kind": "task-notification"}))
    assert ended.text == f'Background command "make" failed with exit code 2{kept}'


def test_a_notification_that_a_person_typed_ends_nothing() -> None:
    assert [step.kind for step in steps(prompt(1, NOTIFICATION.format("failed")))] == [NOTICE]


@pytest.mark.parametrize(
    ("attachment", "text"),
    [
        ({"type": "file", "displayPath": "a.py", "content": {"file": {"content": "print(1)"}}}, "a.py\nprint(1)"),
        ({"type": "directory", "path": "src", "content": "a.py\nb.py"}, "src\na.py\nb.py"),
        ({"type": "already_read_file", "filename": "/a.py", "content": {"file": {"content": "x"}}}, "/a.py\nx"),
        ({"type": "file", "content": {"type": "pdf"}}, '{"type":"file","content":{"type":"pdf"}}'),
    ],
)
def test_a_file_that_was_mentioned_is_kept_with_its_name(attachment: dict[str, Any], text: str) -> None:
    assert told(entry(1, "attachment", attachment=attachment)) == [(ATTACHMENT, text)]


@pytest.mark.parametrize("as_list", [True, False])
def test_a_text_of_ours_that_arrived_is_a_delivery(as_list: bool) -> None:
    text = fenced("facts", "a1b2", "data")
    attachment = {"type": "hook_additional_context", "content": [text, 5] if as_list else text}
    (found,) = read_entry(entry(1, "attachment", attachment=attachment))
    assert found == Delivery(uuid=uuid_of(1), nonces=("a1b2",))


def test_a_boundary_says_when_and_why() -> None:
    (found,) = read_entry(boundary(5))
    assert found == Boundary(uuid=uuid_of(5), at=NOW + 5000, trigger="auto", pre_tokens=90_328)


def test_a_boundary_says_from_where_on_the_conversation_was_kept() -> None:
    details = {"preservedSegment": {"headUuid": uuid_of(3), "tailUuid": uuid_of(4)}}
    (found,) = read_entry(entry(5, "system", subtype="compact_boundary", compactMetadata=details))
    assert found == Boundary(uuid=uuid_of(5), at=NOW + 5000, kept_from=uuid_of(3))


def test_a_summary_is_no_prompt() -> None:
    assert list(read_entry(summary(6, "what was done"))) == [
        Summary(uuid=uuid_of(6), at=NOW + 6000, text="what was done")
    ]


@pytest.mark.parametrize(
    "value",
    [
        entry(1, "progress", content="…"),
        entry(1, "api-request-blob", message={"content": "all over again"}),
        entry(1, "queue-operation", content="fix it"),
        entry(1, "system", subtype="turn_duration"),
        entry(1, "attachment", attachment={"type": "skill_listing", "content": "many"}),
        entry(1, "attachment", attachment="none"),
        entry(1, "attachment", attachment={"type": "hook_additional_context", "content": ["something else"]}),
        entry(1, "assistant", message={"content": [{"type": "redacted_thinking", "data": "x"}]}),
        entry(1, "something-new", message={"content": "x"}),
        {"type": "user", "message": {"content": "no uuid"}},
        {"type": "user", "uuid": 5, "message": {"content": "x"}},
        {"type": "user", "uuid": "u", "message": "no object"},
        {"type": "user", "uuid": "u", "message": {"content": 5}},
        {"uuid": "u"},
        {},
    ],
)
def test_what_is_no_conversation_is_skipped(value: dict[str, Any]) -> None:
    assert list(read_entry(value)) == []


def test_what_nests_deeper_than_anybody_can_go_is_left_out() -> None:
    deep: Any = "the innermost"
    for _ in range(500):
        deep = [deep]
    (step,) = steps(answer(1, call("toolu_1", "Read", file_path="a", deep=deep)))
    assert step.text == '{"file_path":"a","deep":"[nested too deep]"}'


WORDS = (
    "user assistant attachment system compact_boundary text thinking tool_use tool_result image queued_command "
    "hook_additional_context file directory"
)
FIELDS = (
    "type message content text thinking name id input source tool_use_id is_error attachment prompt origin displayPath "
    "path subtype timestamp isMeta isSidechain agentId compactMetadata isCompactSummary"
)
anything = any_json(FIELDS, WORDS)
contents = st.fixed_dictionaries({"content": st.lists(anything, max_size=3)})
entries = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS.split()[:4]) | anything, "uuid": st.just("u") | anything},
    optional={"message": contents | anything, **dict.fromkeys(FIELDS.split()[11:], anything)},
)


@given(entries)
def test_no_entry_is_too_odd_to_be_read(value: dict[str, Any]) -> None:
    for found in read_entry(value):
        assert not isinstance(found, Step) or found.kind in KINDS
