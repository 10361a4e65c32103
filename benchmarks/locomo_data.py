"""LoCoMo's conversations and questions (https://github.com/snap-research/LoCoMo), and the conversations as transcripts.

Its licence (CC BY-NC 4.0) keeps the data out of this repository: it is read from a file that the user names.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_TURN_ID = re.compile(r"D\d+:\d+")
_BETWEEN_TURNS = timedelta(seconds=30)


class Turn(NamedTuple):
    """One thing that somebody says, and its number in the whole conversation."""

    id: str
    session: int
    speaker: str
    text: str
    at: datetime

    @property
    def line(self) -> str:
        """The turn as it is searched."""
        return f"{self.speaker}: {self.text}"


class Question(NamedTuple):
    """A question, and the turns that hold what answers it."""

    text: str
    category: int
    evidence: frozenset[str]


class Conversation(NamedTuple):
    """Two people over many sessions, and what is asked about it."""

    name: str
    user: str
    turns: list[Turn]
    questions: list[Question]


def load_conversations(path: Path) -> list[Conversation]:
    """The conversations of a file as LoCoMo publishes it, packed (.xz) or not."""
    data = path.read_bytes()
    samples = json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
    return [_conversation(number, sample) for number, sample in enumerate(samples)]


def write_transcripts(conversation: Conversation, folder: Path) -> dict[str, str]:
    """Write each session as a transcript of Claude Code, one speaker as the user and the other as the agent; gives the
    turn of each entry's uuid.
    """
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


def _conversation(number: int, sample: dict[str, Any]) -> Conversation:
    told = sample["conversation"]
    turns = list(_turns(told))
    known = {turn.id for turn in turns}
    questions = [
        Question(asked["question"], asked["category"], frozenset(evidence))
        for asked in sample["qa"]
        if (evidence := known.intersection(_TURN_ID.findall(" ".join(asked["evidence"]))))
    ]
    return Conversation(str(sample.get("sample_id", number)), told["speaker_a"], turns, questions)


def _turns(told: dict[str, Any]) -> Iterator[Turn]:
    session = 1
    while f"session_{session}_date_time" in told:
        begun = datetime.strptime(told[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(told.get(f"session_{session}", ())):
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            at = begun + place * _BETWEEN_TURNS
            yield Turn(turn["dia_id"], session, turn["speaker"], turn["text"] + caption, at)
        session += 1
