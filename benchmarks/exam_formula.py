"""The simplest thing that could work instead of the product: pieces of the session by one formula, the best first.

A piece is a passage of a prompt, a paragraph of the agent, the last run of a command, or a file with the names in it.
Its value is the names and numbers that it tells, which the summary does not (told once already: a quarter), times
(1 + turns ago)^-.3, for each of its tokens.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.exam_words import Telling, prompts_of
from benchmarks.hindcast_baselines import within
from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_gold import entities, in_one_line
from benchmarks.transcripts import Call, blocks, calls, strings
from unified_state.lib.tokens import count_tokens

_AGAIN, _AGE = 0.25, 0.3
_PASSAGE, _RESULT, _COMMAND, _NAMES = 500, 320, 200, 30  # characters, and names of a file
_WORDS = 1_200  # tokens for the user's words
_TELLING = re.compile(r"[A-Za-z]*(?:[_./:#-]*[A-Za-z0-9]+)+")
_IS_NAME = re.compile(r"[0-9_/.#:]|[a-z][A-Z]|[A-Z]{2}")


class Piece(NamedTuple):
    """Something that can be told, and how many turns ago it was."""

    text: str
    age: int


def formula(case: Case, tokens: int) -> str:
    """What the formula gives back."""
    return _filled(_pieces(case), case.summary, [], tokens)


def formula_and_words(case: Case, tokens: int) -> str:
    """The same behind the user's words that the summary does not tell."""
    known = Telling(case.summary)
    given = [f"- {text}" for prompt in prompts_of(case) for text in prompt.sentences if not known.tells(text)]
    words = within(given, min(_WORDS, tokens)).splitlines()
    return _filled(_pieces(case), case.summary, words, tokens)


def _filled(pieces: Sequence[Piece], summary: str, begin: Sequence[str], tokens: int) -> str:
    """The beginning, and behind it the pieces by their value for a token, as far as they fit."""
    sizes = count_tokens([f"{piece.text}\n" for piece in pieces])
    known, told = names_in(summary), dict[str, int]()
    chosen, room = list(begin), tokens - sum(count_tokens([f"{line}\n" for line in begin]))
    for line in begin:
        told |= dict.fromkeys(names_in(line), 1)
    names = [names_in(piece.text) - known for piece in pieces]

    def value(number: int) -> float:
        new = sum(_AGAIN ** told.get(name, 0) if told.get(name, 0) < 2 else 0 for name in names[number])
        return float(new / (1 + pieces[number].age) ** _AGE / sizes[number])

    queue = [(-value(number), number) for number in range(len(pieces))]
    heapq.heapify(queue)
    while queue:
        _, number = heapq.heappop(queue)
        worth = value(number)  # it can only have fallen
        if queue and worth < -queue[0][0]:
            heapq.heappush(queue, (-worth, number))
        elif worth > 0 and sizes[number] <= room:
            chosen.append(pieces[number].text)
            room -= sizes[number]
            for name in names[number]:
                told[name] = told.get(name, 0) + 1
    return within(chosen, tokens)


def names_in(text: str) -> set[str]:
    """The names and numbers in a text."""
    return {word for word in _TELLING.findall(text) if len(word) > 1 and _IS_NAME.search(word)}


def _pieces(case: Case) -> list[Piece]:
    """All pieces before the compaction."""
    turns = 0
    texts: list[tuple[str, int]] = []
    runs: dict[str, tuple[str, int]] = {}
    files: dict[str, tuple[dict[str, None], int]] = {}
    called = calls(case.before)
    for entry in case.before:
        is_agent = entry["type"] == "assistant"
        for block in blocks(entry) if not entry.get("isCompactSummary") else ():
            text = "\n".join(strings(block.get("text"))).strip()
            turns += bool(text) and not is_agent
            texts += [(passage, turns) for passage in _passages(text)]
            if is_agent and block.get("type") == "tool_use":
                _take_call(next(called), turns, runs, files)
    told = [(line, at) for line, at in dict.fromkeys([*texts, *runs.values(), *_file_lines(files)]) if line]
    return [Piece(line, turns - at) for line, at in told]


def _take_call(
    call: Call, turn: int, runs: dict[str, tuple[str, int]], files: dict[str, tuple[dict[str, None], int]]
) -> None:
    if call.command:
        command, result = in_one_line(call.command)[:_COMMAND], in_one_line(call.result)[-_RESULT:]
        runs[command] = (f"$ {command} -> {result}", turn)
    elif call.file is not None:
        path = str(call.given["file_path"])
        names, _ = files.get(path, ({}, 0))
        found = "\n".join(strings([call.given.get(name) for name in ("old_string", "new_string", "content")]))
        files[path] = (dict.fromkeys(sorted(entities(found))) | names, turn)


def _file_lines(files: dict[str, tuple[dict[str, None], int]]) -> Iterator[tuple[str, int]]:
    for path, (names, turn) in files.items():
        yield f"{path}: {' '.join(list(names)[:_NAMES])}", turn


def _passages(text: str) -> Iterator[str]:
    """The paragraphs of a text, in one line each; a long one in passages that end with a sentence."""
    for paragraph in re.split(r"\n\s*\n", text):
        line = in_one_line(paragraph)
        while len(line) > _PASSAGE:
            end = max(line.rfind(". ", 0, _PASSAGE) + 1, 0) or line.rfind(" ", 0, _PASSAGE)
            end = end if end > 0 else _PASSAGE
            yield line[:end]
            line = line[end:].strip()
        if line:
            yield line
