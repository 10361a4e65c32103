"""Files of other programs. The first line names the form: a rollout, a chat, a script of a database, or a text."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from tests.campaign.kind import Kind, expect
from tests.campaign.kinds.history_files import check_import
from tests.campaign.world import World
from tests.extras.importers.foreign import DATA, FLOW, FLOW_JSON, MEM, OLD_MEM

_FORMS = {b"flow": "flow.json", b"script": "foreign.db", b"rollout": "rollout-1.jsonl", b"chat": "session-1.jsonl"}
# A form of text: the file of it, and the name that its kind has among the test data.
_TEXTS = {
    b"claude-memory": ("claude-memory/-home-ada-notes/memory/feedback_real_database.md", "feedback_real_database.md"),
    b"claude-index": ("claude-memory/-home-ada-notes/memory/MEMORY.md", "MEMORY.md"),
    b"codex": ("codex-memories/MEMORY.md", "MEMORY.md"),
    b"codex-raw": ("codex-memories/raw_memories.md", "raw_memories.md"),
    b"beads": ("beads/issues.jsonl", "issues.jsonl"),
    b"mempalace": ("mempalace/notes/sync.jsonl", "room.jsonl"),
    b"basic-memory": ("basic-memory/notes/sync.md", "note.md"),
    b"specstory": ("specstory/2026-11-19_17-47-37Z-lost-tombstones.md", "2026-11-19_17-47-37Z-x.md"),
    b"aider": ("aider/.aider.chat.history.md", ".aider.chat.history.md"),
    b"cline": ("cline/1795251600000/api_conversation_history.json", "api_conversation_history.json"),
    b"cline-4": ("cline-4/1795251600000_ab12c/1795251600000_ab12c.messages.json", "x.messages.json"),
    b"copilot-cli": ("copilot-cli/0b6e1d2e-0000-4000-8000-000000000002/events.jsonl", "events.jsonl"),
}
_FORMS |= {form: name for form, (_, name) in _TEXTS.items()}
_STEPS, _LONGEST_VALUE = 200_000, 1_000_000  # of SQLite, for a script
_REFUSED = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_PRAGMA)
_AT = "2026-11-22T10:13:23.418Z"
_ROLLOUT = (
    {"type": "session_meta", "payload": {"id": "r1", "cwd": "@REPOSITORY@", "cli_version": "0.169.0"}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "fix it with @TOKEN@"}]}},
    {"type": "response_item", "payload": {"type": "function_call", "name": "exec_command", "call_id": "c1",
     "arguments": '{"cmd": "ls"}'}},
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1",
     "output": "Process exited with code 1\n@TOKEN@"}},
    {"type": "response_item", "payload": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}},
    {"type": "compacted", "payload": {"message": "Another model began:\nfix it"}},
)  # fmt: skip
_CHAT = (
    {"sessionId": "g1", "projectHash": "p", "startTime": _AT, "lastUpdated": _AT, "kind": "main"},
    {"id": "m1", "type": "user", "content": [{"text": "fix it with @TOKEN@"}]},
    {"id": "m2", "type": "gemini", "content": "hm", "thoughts": [{"subject": "s", "description": "d"}], "toolCalls": [
        {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success",
         "result": [{"functionResponse": {"response": {"output": "a.py @TOKEN@"}}}]}]},
    {"id": "m3", "type": "info", "content": "x"},
)  # fmt: skip


def seeds() -> list[bytes]:
    """A file of each program, as it wrote it."""
    flow = json.dumps(json.loads(FLOW_JSON.read_text(encoding="utf-8"))).encode()
    scripts = [(DATA / f"{name}.sql").read_bytes() for name in (FLOW, MEM)]
    lines = [b"\n".join(json.dumps({"timestamp": _AT, **line}).encode() for line in form) for form in (_ROLLOUT, _CHAT)]
    return [
        b"flow\n" + flow, *(b"script\n" + script for script in (*scripts, OLD_MEM.encode())),
        b"rollout\n" + lines[0], b"chat\n" + lines[1],
        *(form + b"\n" + (DATA / place).read_bytes().replace(b"tombstones", b"tombstones @TOKEN@")
          for form, (place, _) in _TEXTS.items()),
    ]  # fmt: skip


def meet(world: World, data: bytes) -> None:
    """The file is taken in or refused; a second time it adds nothing; it binds nobody."""
    form, _, content = data.partition(b"\n")
    name = _FORMS.get(form, "any.json")
    path = world.root / name
    path.unlink(missing_ok=True)
    if form == b"script":
        _make_database(path, content.decode("utf-8", "replace"))
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    if form in {b"flow", b"script", *_TEXTS}:
        check_import(world, path)
    else:
        world.run("import", str(path))
    world.check_nothing_lost()
    expect(path.read_bytes() == before, "the foreign file was changed")


def _make_database(path: Path, script: str) -> None:
    """The database that a script makes, as far as it is one. It reaches no other file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.set_progress_handler(lambda: True, _STEPS)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in _REFUSED else sqlite3.SQLITE_OK)
        for statement in script.split(";\n"):
            with suppress(sqlite3.Error, sqlite3.Warning, ValueError):
                connection.execute(statement)


KIND = Kind(
    "foreign files", seeds, meet,
    ("flow", "script", "rollout", "chat", "INSERT INTO observations ", "UPDATE observations SET ",
     "CAST(x'ff' AS TEXT)",
     "9e999", "NULL", "x'00'", ";\n", "DROP TABLE ", "ALTER TABLE ", "payload", "response_item", "compacted",
     "toolCalls",
     "functionResponse", "timestamp", "content", "namespace", "metadata", "createdAt", "1e400",
     "dependencies", "requests", "response", "tool_use", "toolRequests", "issue_type", "_**User**_\n\n", "#### ",
     "\n## ", "<tool-use data-tool-name=", "---\n", "permalink: "),
)  # fmt: skip
