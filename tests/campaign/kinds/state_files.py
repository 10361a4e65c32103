"""State files. Whatever one holds, the ledger keeps what it had, and nobody's word becomes the user's."""

from __future__ import annotations

import json
from pathlib import Path

from tests.campaign.kind import Kind, expect
from tests.campaign.world import World

_DATA = Path(__file__).parents[2] / "data"


def seeds() -> list[bytes]:
    """States of all versions, in one line each."""
    paths = [*(_DATA / "golden").glob("*.json"), *(_DATA / "states").glob("*.json")]
    return [json.dumps(json.loads(path.read_text(encoding="utf-8"))).encode() for path in sorted(paths)] + [
        b"",
        b"{}",
        b"[]",
    ]


def meet(world: World, data: bytes) -> None:
    """The file lies in the project when a session begins, is used, and is written anew."""
    path = world.repository / ".claude" / "unified-session-state.json"
    path.write_bytes(data)
    world.run("validate")
    world.run("load")
    world.hook("SessionStart", "brief", source="startup")
    world.hook("UserPromptSubmit", prompt="go on")
    world.run("save", codes=(0,))
    world.check_state()
    items = [json.loads(line) for line in world.run("export", "--items", codes=(0,)).out.splitlines()]
    users = {item["ref"] for item in items if item.get("origin") == "user_said" and item.get("status") == "active"}
    expect(users <= {"D1", "C1"}, f"a file speaks for the user: {users}")
    world.check_nothing_lost()


KIND = Kind(
    "state files", seeds, meet,
    ("version", "3.2.0", "decisions", "constraints", "evidenceLedger", "openQuestions", "id", "origin", "status", "git",
     "workItem", "pendingActions", "rationale", "statement", "mode", "deny", "scope", "supersededBy", "budget"),
)  # fmt: skip
