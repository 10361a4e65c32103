"""History files, sealed anew behind each change, so that more than their checksum is tried."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from tests.campaign.kind import Kind, expect
from tests.campaign.world import World

_AT, _ISO = 1_795_251_600_000, "2026-11-21T09:00:00.000Z"
_UUID = "01a208df-dbe1-7c4a-b320-be4eb8b631c%d"
_ITEM = {
    "status": "active",
    "origin": "user_said",
    "createdAt": _ISO,
    "branch": "main",
    "quote": "Use sessions",
    "quoteHash": "0" * 64,
}
_RECORDS: tuple[dict[str, object], ...] = (
    {"record": "session", "sessionId": "h", "startedAt": _AT, "seenAt": _AT, "worktree": "@ELSEWHERE@",
    "branch": "main"},
    {"record": "step", "sessionId": "h", "uuid": "u1", "block": 0, "kind": "prompt", "at": _AT, "startsTurn": True,
     "text": "Add a login page. The token is @TOKEN@"},
    {"record": "step", "sessionId": "h", "uuid": "u2", "block": 1, "kind": "tool_call", "at": _AT, "tool": "Bash",
     "toolUseId": "t1", "text": '{"command":"pytest -q"}'},
    {"record": "step", "sessionId": "h", "uuid": "u3", "block": 0, "kind": "tool_result", "at": _AT, "toolUseId": "t1",
     "text": "1 failed", "isError": True},
    {"record": "item", "uuid": _UUID % 1, "alias": "D1", "kind": "decision", **_ITEM,
     "body": {"decision": "Use sessions", "rationale": "@TOKEN@", "reversible": True}},
    {"record": "item", "uuid": _UUID % 2, "alias": "C1", "kind": "constraint", **_ITEM, "body": {
        "constraint": "Never push", "source": "s",
        "blocking": True, "scope": {"commands": ["git push"]}, "mode": "deny"}},
    {"record": "item", "uuid": _UUID % 3, "alias": "Q1", "kind": "question", **_ITEM,
     "body": {"question": "Which port?", "context": "c", "priority": "medium"}},
    {"record": "item", "uuid": _UUID % 4, "alias": "E1", "kind": "evidence", **_ITEM,
     "body": {"type": "output", "content": "password=@TOKEN@", "source": "x"}},
    {"record": "compaction", "sessionId": "h", "boundaryUuid": "b1", "at": _AT, "trigger": "auto", "preTokens": 150000,
     "summary": "The login page was begun. @TOKEN@"},
    {"record": "link", "fromUuid": _UUID % 1, "toUuid": _UUID % 2, "relation": "supersedes", "at": _ISO},
    {"record": "tombstone", "what": "step", "key": "u9/0", "at": _AT},
)  # fmt: skip


def seeds() -> list[bytes]:
    """A history of everything, and of each kind of record alone."""
    top = json.dumps({"format": "unified-state history", "version": 1, "project": "theirs"}).encode()
    lines = [json.dumps(record).encode() for record in _RECORDS]
    return [b"\n".join([top, *lines]), *(b"\n".join([top, line]) for line in lines), top, b"{}"]


def meet(world: World, data: bytes) -> None:
    """The file is taken in or refused whole; a second time it adds nothing; it binds nobody."""
    path = world.root / "history.jsonl"
    path.write_bytes(sealed(data))
    check_import(world, path)
    world.check_nothing_lost()


def check_import(world: World, path: Path) -> None:
    """Import a file that is not of this user; a second time it adds nothing, and it binds nobody."""
    command = ("import", str(path), "--project", "project", "--json")
    code = world.run(*command).code
    items = [json.loads(line) for line in world.run("export", "--items", codes=(0,)).out.splitlines()]
    users = {item["ref"] for item in items if item.get("origin") == "user_said" and item.get("status") == "active"}
    expect(users <= {"D1", "C1"}, f"a file speaks for the user: {users}")
    if code == 0:
        again = json.loads(world.run(*command, codes=(0,)).out)
        expect([one["added"] for one in again] == [0], f"a second import adds something: {again}")
    world.run("search", "login", "--json", codes=(0, 1))
    world.hook("SessionStart", "working_set", source="startup")


def sealed(data: bytes) -> bytes:
    """The lines with an end that fits them, unless they have one."""
    lines = [line for line in data.split(b"\n") if line]
    body = b"".join(line + b"\n" for line in lines)
    end = {"record": "end", "records": max(0, len(lines) - 1), "sha256": sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


KIND = Kind(
    "history files", seeds, meet,
    ("record", "step", "item", "link", "compaction", "tombstone", "origin", "user_said", "status", "active", "proposed",
     "session", "uuid", "kind", "prompt", "body", "mode", "deny", "D1", "C1", "at", "supersedes"),
)  # fmt: skip
