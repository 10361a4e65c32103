"""Conversations with questions about them, and a conversation as transcripts of Claude Code."""

from __future__ import annotations

import json
import lzma
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple


class Turn(NamedTuple):
    """One message of a conversation: its id, the number of its session, who wrote it, its text, its time."""

    id: str
    session: int
    speaker: str
    line: str
    at: datetime


class Question(NamedTuple):
    """A question, its category, and the turns that hold what answers it."""

    text: str
    category: str
    evidence: frozenset[str]


class Conversation(NamedTuple):
    """A user and an agent, or another person in its place, over many sessions, and what is asked about it."""

    name: str
    user: str
    turns: list[Turn]
    questions: list[Question]


def read_json(path: Path) -> Any:
    """What a file of JSON holds that a user names, packed (.xz) or not."""
    data = path.read_bytes()
    return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)


def write_transcripts(conversation: Conversation, folder: Path) -> dict[str, str]:
    """Write each session as a transcript; gives the turn of each entry's uuid."""
    turn_of: dict[str, str] = {}
    files: dict[int, list[str]] = {}
    for number, turn in enumerate(conversation.turns):
        uuid, session_id = (
            f"{number:08x}-0000-4000-8000-000000000000",
            f"{turn.session:08x}-0000-4000-9000-000000000000",
        )
        is_user = turn.speaker == conversation.user
        role, content = ("user", turn.line) if is_user else ("assistant", [{"type": "text", "text": turn.line}])
        entry = {
            "type": role,
            "uuid": uuid,
            "sessionId": session_id,
            "timestamp": turn.at.isoformat().replace("+00:00", ".000Z"),
            "message": {"role": role, "content": content},
        }
        files.setdefault(turn.session, []).append(json.dumps(entry) + "\n")
        turn_of[uuid] = turn.id
    for session, lines in files.items():
        (folder / f"{session:08x}-0000-4000-9000-000000000000.jsonl").write_text("".join(lines), encoding="utf-8")
    return turn_of
