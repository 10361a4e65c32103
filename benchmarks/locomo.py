"""LoCoMo: whether search finds the turns that hold the answer to a question, in conversations over many sessions.

    python -m benchmarks.locomo FILE [--json] [--half tune|report] [--vectors off|minilm …]

FILE is locomo10.json as its authors publish it, packed (.xz) or not. Each conversation is archived as a project of its
own. Offline, and the same in every run. With --vectors, search is also asked with the meaning that a model sees. The
first of several is what the others are compared with, question by question. docs/explanation/how-it-is-measured.md
tells what the measures mean. LoCoMo's licence (CC BY-NC 4.0) keeps its data
(https://github.com/snap-research/LoCoMo) out of this repository.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import ask_conversation
from benchmarks.conversations import Conversation, Question, Turn, read_json
from benchmarks.retrieval import Summed

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SUMMED = Summed("categories 1-4", tuple(CATEGORIES[number] for number in (1, 2, 3, 4)))  # those with an answer
_TURN_ID = re.compile(r"D\d+:\d+")
_BETWEEN_TURNS = timedelta(seconds=30)


def main(arguments: list[str] | None = None) -> int:
    """Ask all questions of a file and print the tables."""
    return ask_conversation.main(__doc__, load_conversations, _SUMMED, arguments)


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


if __name__ == "__main__":
    sys.exit(main())
