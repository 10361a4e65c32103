"""LoCoMo's conversations and questions (https://github.com/snap-research/LoCoMo).

Its licence (CC BY-NC 4.0) keeps the data out of this repository: it is read from a file that the user names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.conversations import Conversation, Question, Turn
from benchmarks.packed import read_json

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_TURN_ID = re.compile(r"D\d+:\d+")
_BETWEEN_TURNS = timedelta(seconds=30)


def load_conversations(path: Path) -> list[Conversation]:
    """The conversations of a file as LoCoMo publishes it, packed (.xz) or not."""
    return [_conversation(number, sample) for number, sample in enumerate(read_json(path))]


def _conversation(number: int, sample: dict[str, Any]) -> Conversation:
    told = sample["conversation"]
    turns = list(_turns(told))
    known = {turn.id for turn in turns}
    questions = [
        Question(asked["question"], CATEGORIES[asked["category"]], frozenset(evidence))
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
            line = f"{turn['speaker']}: {turn['text']}{caption}"
            yield Turn(turn["dia_id"], session, turn["speaker"], line, at)
        session += 1
