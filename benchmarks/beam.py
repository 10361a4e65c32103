"""BEAM: whether search finds the messages that hold the answer to a question, in chats of 100,000 tokens and more.

    python -m benchmarks.beam FILE [--json] [--half tune|report] [--vectors off|minilm …]

FILE is a list of chats, packed (.xz) or not: {"chat": name, "messages": [{"id", "role", "time", "content"}],
"questions": [{"ability", "question", "evidence": [ids]}]}. The first table is over the abilities that ask for facts.
Offline, and the same in every run. docs/explanation/how-it-is-measured.md tells what the measures mean.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import ask_conversation
from benchmarks.conversations import Conversation, Question, Turn, read_json
from benchmarks.retrieval import Summed

_FACTUAL = Summed(
    "factual",
    (
        "contradiction_resolution",
        "information_extraction",
        "knowledge_update",
        "multi_session_reasoning",
        "temporal_reasoning",
    ),
)
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)  # of a chat whose first message tells no date
_BETWEEN_MESSAGES = timedelta(seconds=30)


def main(arguments: list[str] | None = None) -> int:
    """Ask all questions of a file and print the tables."""
    return ask_conversation.main(__doc__, load_chats, _FACTUAL, arguments)


def load_chats(path: Path) -> list[Conversation]:
    """The chats of a file, each with those of its questions that have evidence."""
    return [_conversation(chat) for chat in read_json(path)]


def _conversation(chat: dict[str, Any]) -> Conversation:
    turns = list(_turns(chat["messages"]))
    known = {turn.id for turn in turns}
    questions = [
        Question(asked["question"], asked["ability"], frozenset(evidence))
        for asked in chat["questions"]
        if (evidence := known.intersection(map(str, asked["evidence"])))
    ]
    return Conversation(f"chat {chat['chat']}", "user", turns, questions)


def _turns(messages: list[dict[str, Any]]) -> Iterator[Turn]:
    """The messages. One that tells another date than those before it begins a session."""
    session, date, at = 1, None, _BEGIN
    for message in messages:
        told = message.get("time")
        if told and told != date:
            session += date is not None
            date, at = told, datetime.strptime(told, "%B-%d-%Y").replace(tzinfo=UTC)
        yield Turn(str(message["id"]), session, message["role"], message["content"], at)
        at += _BETWEEN_MESSAGES


if __name__ == "__main__":
    sys.exit(main())
