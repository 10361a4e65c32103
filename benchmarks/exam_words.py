"""The user's own words, and whether a text tells them.

Words are what somebody typed: prompts, arguments of commands, and messages while the agent worked; no code, nothing
pasted, no text of the client, no bare "go on". A sentence is told where most of its runs of four words stand, a shorter
one where it stands as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.hindcast_cases import Case
from benchmarks.transcripts import Entry, blocks, is_conversation, parse_all, strings

_RUN, _ENOUGH = 4, 0.7
_LONGEST_LINE, _MOST_LINES = 1_000, 60  # characters and lines that somebody types
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ARGUMENTS = re.compile(r"\s*<command-.*<command-args>(.*?)</command-args>", re.DOTALL)
_MACHINE = re.compile(r"\s*(?:<[a-z]|\[Request interrupted|\[Image|Caveat: |Implement the following plan)")
_PASTED = re.compile(r"\s*[|>$│┃╭╰✓✗⏺⎿●+{}\[\]@#]|\s{4,}\S|\S+:\d+[: ]|\s*(?:at \S+\(|File \")|.*[{};]$")
_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w+")
_GO_ON = re.compile(
    "(?:y|yes|yep|yeah|ok|okay|sure|please|go|on|ahead|continue|proceed|do|it|now|thanks?|you|great|good|perfect|nice"
    "|try|again|next|no)"
)


class Prompt(NamedTuple):
    """What somebody typed at once, by sentences, and how many compactions came before it."""

    sentences: tuple[str, ...]
    epoch: int


class Telling:
    """A text, asked for what it tells."""

    def __init__(self, text: str) -> None:
        self._words = f" {' '.join(_words(text))} "
        self._runs = set(_runs(text))

    def tells(self, sentence: str) -> bool:
        """Whether the sentence stands there, as a whole or nearly."""
        runs = list(_runs(sentence))
        if not runs:
            return f" {' '.join(_words(sentence))} " in self._words
        return sum(run in self._runs for run in runs) >= _ENOUGH * len(runs)

    def tells_prompt(self, prompt: Prompt) -> bool:
        """Whether most of a prompt stands there, by words."""
        sizes = {sentence: len(_words(sentence)) for sentence in prompt.sentences}
        return sum(sizes[one] for one in sizes if self.tells(one)) >= _ENOUGH * sum(sizes.values())


def prompts_of(case: Case) -> list[Prompt]:
    """All prompts before a compaction in which something is said, in order."""
    found: dict[str, int] = {}
    epoch = 0
    for entry in parse_all(case.lines):
        epoch += entry.get("subtype") == "compact_boundary"
        for text in _typed(entry):
            found.setdefault(text.strip(), epoch)
    prompts = [Prompt(tuple(_sentences(text)), before) for text, before in found.items()]
    return [prompt for prompt in prompts if prompt.sentences]


def earlier(case: Case) -> list[Prompt]:
    """The prompts before an earlier compaction: what only that one's summary could tell the next."""
    return [prompt for prompt in prompts_of(case) if prompt.epoch < case.number]


def load_said(file: Path) -> dict[str, list[tuple[str, ...]]]:
    """What users settled, by session: phrases, as `is_said` compares them."""
    said: dict[str, list[tuple[str, ...]]] = {}
    for entry in json.loads(file.read_text(encoding="utf-8")) if file.exists() else ():
        said.setdefault(entry["case"], []).append(tuple(entry["must"]))
    return said


def is_said(text: str, phrases: Iterable[str]) -> bool:
    """Whether all phrases stand in a text, letter by letter."""
    whole = "".join(_words(text))
    return all("".join(_words(phrase)) in whole for phrase in phrases)


def _typed(entry: Entry) -> Iterator[str]:
    """What somebody typed in an entry."""
    if entry.get("type") == "queue-operation" and entry.get("operation") == "enqueue":
        texts: Sequence[str] = strings(entry.get("content"))
    elif entry.get("type") == "user" and is_conversation(entry) and not entry.get("isCompactSummary"):
        texts = [text for block in blocks(entry) if block.get("type") == "text" for text in strings(block.get("text"))]
    else:
        texts = []
    for text in texts:
        if found := _ARGUMENTS.match(text):
            yield found[1]
        elif not _MACHINE.match(text):
            yield text


def _sentences(text: str) -> Iterator[str]:
    lines = _FENCE.sub("\n", text).splitlines()
    if len(lines) <= _MOST_LINES:
        typed = [line for line in lines if len(line) <= _LONGEST_LINE and not _PASTED.match(line)]
        for sentence in _ENDS.split("\n".join(typed)):
            words = _words(sentence)
            if len(words) > 1 and not all(map(_GO_ON.fullmatch, words)):
                yield sentence.strip()


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _words(text)
    return zip(*(words[start:] for start in range(_RUN)), strict=False)
