"""What pruning saves in real sessions, and what it costs the prompt cache.

    python -m benchmarks.pruning FOLDER

Each session is played as a program holds it that calls the Messages API: a request for every message of the user, with
all that was said before, pruned by each rule. A message counts as read from the cache if all up to it is what the last
request held, else as written. Tokens are the product's own estimate, for all rules the same; prices are those of an
input token. The system prompt and the tools are left out: they are the same in all.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.transcripts import blocks, find_transcripts, is_conversation, parse, read_lines
from unified_state import prune_messages
from unified_state.context.prune_messages import CutText, message_tokens

Message = dict[str, Any]
RULES: dict[str, Mapping[str, Any] | None] = {
    "nothing pruned": None,
    "at once (the seed's rule)": {},
    "in steps of 5,000 tokens": {"step_tokens": 5_000},
    "in steps of 10,000 tokens": {"step_tokens": 10_000},
    "in steps of 20,000 tokens": {"step_tokens": 20_000},
    "in steps of 40,000 tokens": {"step_tokens": 40_000},
}
READ_PRICE, WRITE_PRICE = 0.1, 1.25


@dataclass
class Sent:
    """The tokens of all requests of a session, or of several."""

    requests: int = 0
    read: int = 0
    written: int = 0
    changes: int = 0
    largest: int = 0

    @property
    def price(self) -> float:
        """In input tokens."""
        return self.read * READ_PRICE + self.written * WRITE_PRICE

    def add(self, other: Sent) -> None:
        """Count another session too."""
        self.requests += other.requests
        self.read += other.read
        self.written += other.written
        self.changes += other.changes
        self.largest = max(self.largest, other.largest)


def conversation(lines: Sequence[str]) -> list[Message]:
    """The messages of a transcript, each role's in a row joined to one. What compactions removed is there too."""
    messages: list[Message] = []
    for entry in filter(is_conversation, map(parse, lines)):
        if messages and messages[-1]["role"] == entry["type"]:
            messages[-1]["content"] += blocks(entry)
        else:
            messages.append({"role": entry["type"], "content": blocks(entry)})
    return messages


def _refs(texts: Sequence[CutText]) -> list[str]:
    return ["0123456789abcdef"] * len(texts)


def play(messages: Sequence[Message], options: Mapping[str, Any] | None) -> Sent:
    """All requests of a session by one rule."""
    sent, before = Sent(), list[Message]()
    for end in (position + 1 for position, message in enumerate(messages) if message["role"] == "user"):
        request = list(messages[:end]) if options is None else prune_messages(messages[:end], _refs, **options)
        same = next((at for at, (old, new) in enumerate(zip(before, request, strict=False)) if old != new), len(before))
        tokens = list(map(message_tokens, request))
        read, written = sum(tokens[:same]), sum(tokens[same:])
        sent.add(Sent(1, read, written, same < len(before), read + written))
        before = request
    return sent


def main() -> None:
    """Print the table."""
    totals = {name: Sent() for name in RULES}
    for path in find_transcripts(Path(sys.argv[1])):
        messages = conversation(read_lines(path))
        for name, options in RULES.items():
            totals[name].add(play(messages, options))
    whole = totals["nothing pruned"]
    print("| rule | tokens sent | written to the cache | times the cache broke | largest request | price |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, sent in totals.items():
        share = (sent.read + sent.written) / (whole.read + whole.written)
        print(
            f"| {name} | {share:.0%} | {sent.written:,} | {sent.changes:,} of {sent.requests:,} | {sent.largest:,} "
            f"| {sent.price / whole.price:.0%} |"
        )


if __name__ == "__main__":
    main()
