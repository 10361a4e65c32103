"""A line that nobody should have written never keeps what stands around it from being archived."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .product import Project
from .reading import Said, kept, said
from .transcripts import Json, Transcript

HUGE = 10**40
SURROGATE = "half an emoji \ud83d"


def nested(depth: int) -> Any:
    """An object in an object in an object."""
    value: Any = "the innermost"
    for _ in range(depth):
        value = {"a": value}
    return value


def call(tool_input: object, **fields: object) -> Json:
    """An assistant entry with a tool call."""
    block = {"type": "tool_use", "id": "toolu_odd", "name": "Bash", "input": tool_input, **fields}
    return {"type": "assistant", "message": {"content": [block]}}


def result(content: object, **fields: object) -> Json:
    """A user entry with a tool result."""
    return {"message": {"content": [{"type": "tool_result", "tool_use_id": "toolu_odd", "content": content, **fields}]}}


# Lines as they stand in the file.
LINES: dict[str, bytes] = {
    "empty": b"",
    "blank": b"   \t",
    "garbage": bytes(byte for byte in range(256) if byte != 10),
    "NUL": bytes(5000),
    "half an entry": b'{"parentUuid":null,"type":"user","message":{"role":"user","content":"half',
    "half a number": b'{"parentUuid":null,"type":"user","n":1',
    "a bad escape": b'{"type":"user","uuid":"x","message":{"content":"a\\q"}}',
    "a list": b"[1, 2]",
    "a text": b'"entry"',
    "NaN": b'{"type":"user","uuid":"nan","message":{"content":NaN}}',
    "two entries": b'{"type":"system","uuid":"a"}{"type":"system","uuid":"b"}',
    "nested 100,000 deep": b'{"type":"user","uuid":"deep","message":' + b'{"a":' * 100_000,
    "a call nested 960 deep": (
        b'{"type":"assistant","uuid":"deep","message":{"content":[{"type":"tool_use","id":"x","name":"Bash","input":'
        + b'{"a":' * 960
        + b"1"
        + b"}" * 960
        + b"}]}}"
    ),
    "a number of 5,000 digits": b'{"type":"user","uuid":"long","n":' + b"9" * 5000 + b"}",
    "5 MB of white space": b" " * 5_000_000,
}
# Fields by which an ordinary prompt entry is changed.
ENTRIES: dict[str, Json] = {
    "no message": {"message": None},
    "a message that is text": {"message": "hello"},
    "content that is a number": {"message": {"content": 5}},
    "content that is an object": {"message": {"content": {"type": "text", "text": "hello"}}},
    "blocks that are none": {"message": {"content": [None, 5, "text", [], {"type": None}, {"type": []}, {}]}},
    "text that is no text": {"message": {"content": [{"type": "text", "text": {"a": 1}}, {"type": "text"}]}},
    "an unknown block": {"message": {"content": [{"type": "hologram", "data": "x"}]}},
    "an image without a source": {"message": {"content": [{"type": "image"}, {"type": "image", "source": "x"}]}},
    "a type that is a list": {"type": ["user"]},
    "an unknown type": {"type": "hologram"},
    "a uuid that is a number": {"uuid": 7},
    "a uuid that is empty": {"uuid": ""},
    "a uuid of half an emoji": {"uuid": SURROGATE},
    "a uuid of a megabyte": {"uuid": "u" * 1_000_000},
    "half an emoji": {"message": {"content": SURROGATE}},
    "a NUL": {"message": {"content": "before\0after"}},
    "half an emoji as agent": {"isSidechain": True, "agentId": SURROGATE},
    "an agent that is a number": {"isSidechain": True, "agentId": 5},
    "a session that is a number": {"sessionId": 5},
    "another session": {"sessionId": "another", "requestSessionId": SURROGATE},
    "a time that is a number": {"timestamp": HUGE},
    "a time that is none": {"timestamp": "yesterday at noon, or so"},
    "a time out of the calendar": {"timestamp": "2026-13-45T99:99:99.999Z"},
    "the year 9999": {"timestamp": "9999-12-31T23:59:59.999Z"},
    "an origin that is text": {"origin": "human"},
    "flags of other types": {"isMeta": "no", "isSidechain": [], "isCompactSummary": 0, "toolUseResult": HUGE},
    "a summary without a boundary": {"isCompactSummary": True, "message": {"content": "Summary"}},
    "a summary of half an emoji": {"isCompactSummary": True, "message": {"content": SURROGATE}},
    "a boundary with odd details": {"type": "system", "subtype": "compact_boundary", "compactMetadata": "manual"},
    "a boundary with a huge count": {
        "type": "system",
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": SURROGATE, "preTokens": HUGE},
    },
    "an attachment that is text": {"type": "attachment", "attachment": "file"},
    "an attachment of half an emoji": {"type": "attachment", "attachment": {"type": "file", "content": [SURROGATE]}},
    "a queued command that is a number": {"type": "attachment", "attachment": {"type": "queued_command", "prompt": 5}},
    "a call without input": call(None),
    "a call with half an emoji": call({"a": SURROGATE, SURROGATE: "b"}, name=SURROGATE, id=SURROGATE),
    "a call of odd names": call("text", name=5, id=[]),
    "a call with a huge number": call({"n": HUGE, "f": 1e308}),
    "a call nested 200 deep": call(nested(200)),
    "a call nested 700 deep": call(nested(700)),
    "a call nested 900 deep": call(nested(900)),
    "a result that is a number": result(5),
    "a result nested 900 deep": result([nested(900)]),
    "a result with odd parts": result([None, 5, {"type": "text"}, {"type": "image"}]),
    "a result of half an emoji": result(SURROGATE, tool_use_id=SURROGATE, is_error="yes"),
    "thinking without a thought": {"type": "assistant", "message": {"content": [{"type": "thinking"}]}},
}


def test_an_odd_line_keeps_nothing_around_it_from_being_archived(project: Project, tmp_path: Path) -> None:
    content, expected = b"", Said()
    for number, name in enumerate([*LINES, *ENTRIES]):
        whole, odd = Transcript("s", seed=2 * number), Transcript("s", seed=2 * number + 1)
        whole.turn(number)
        odd.entry("user", **{"message": {"content": "odd"}, **ENTRIES.get(name, {})})
        content += whole.content + LINES.get(name, odd.content[:-1]) + b"\n"
        expected += said(whole.content)
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    assert project.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    assert expected <= kept(project.export("s"))
    assert [project.run(*command).code for command in (("search", "Done", "turn"), ("show", "T1"))] == [0, 0]


def test_a_client_that_went_on_behind_half_a_line_is_archived_on(project: Project, tmp_path: Path) -> None:
    """A killed client leaves half a line; when it is resumed it writes right behind that."""
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    written.turn(1)
    half = written.content[:-40]
    path.write_bytes(half)
    assert project.hook("UserPromptSubmit", transcript_path=str(path)).code == 0
    after = Transcript("s", seed=2)
    after.turn(2)
    path.write_bytes(half + after.content)
    assert project.hook("UserPromptSubmit", transcript_path=str(path)).code == 0
    assert kept(project.export("s")) == said(b"".join(written.lines[:-1])) + said(after.content)


def test_odd_files_beside_a_transcript_do_no_harm(project: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.turn(1)
    path = written.write(tmp_path / "s.jsonl")
    for folder in ("subagents", "tool-results"):
        (tmp_path / "s" / folder / "folder").mkdir(parents=True)
        os.mkfifo(tmp_path / "s" / folder / "agent-fifo.jsonl")
        (tmp_path / "s" / folder / "agent-link.jsonl").symlink_to("/dev/zero")
        (tmp_path / "s" / folder / "agent-.jsonl").write_bytes(bytes(range(256)))
        (tmp_path / "s" / folder / "agent-a\udcff.jsonl").write_bytes(b"{}\n")
    assert project.hook("UserPromptSubmit", transcript_path=str(path)).code == 0
    assert said(written.content) <= kept(project.export("s"))
