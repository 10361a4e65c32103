"""An archive of any number of steps, written by the product's own writers, the same for the same number.

Its shape is that of real sessions: kinds and lengths of the steps as they were counted there, words as frequent as
Zipf's law has it, and half of a session's words from a few hundred of its own, since a session is about something.
"""

from __future__ import annotations

import itertools
import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.text import pack
from unified_state.model.step import PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, Step

# The commonest words are read, the others are made of syllables.
_FREQUENT_WORDS = """
the to file test a entire error of and in line run name string return for is main checkpoint if path that session hook
this with state go import it read on get not be set new config use from commit check code type now text case add
branch key value id json parse build call let will log agent but package command so cache token retry schema lock index
budget archive compact merge timeout fixture worker queue payload render login cookie migration column route handler
stream buffer socket signal thread flag module export deploy metric trace span promise async await
"""
_FREQUENT = _FREQUENT_WORDS.split()
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aiou"]
_WORDS = 200_000
_OFFSET, _EXPONENT = 2.7, 1.05  # of Zipf's and Mandelbrot's law
_OWN_WORDS, _FIRST_OWN = 400, 100  # of a session; none of them is among the most frequent
_SESSION_STEPS, _TURN_CALLS = 480, 11
# Median words and the spread of their logarithm, by kind.
_LENGTHS = {PROMPT: (15, 1.1), THINKING: (33, 1.2), TEXT: (18, 1.0), TOOL_CALL: (16, 1.1), TOOL_RESULT: (100, 1.6)}
_MOST_WORDS = 4_000
_TOOLS = ("Read", "Bash", "Grep", "Edit", "Write")
_FOLDERS = ("api", "core", "web", "jobs", "auth", "db")
BEGIN, _MINUTE = 1_700_000_000_000, 60_000


def word(rank: int) -> str:
    """The word of that rank, 0 for the most frequent."""
    if rank < len(_FREQUENT):
        return _FREQUENT[rank]
    syllables: list[str] = []
    rest = rank
    while rest or len(syllables) < 2:
        rest, number = divmod(rest, len(_SYLLABLES))
        syllables.append(_SYLLABLES[number])
    return "".join(syllables)


def file_name(number: int) -> str:
    """One of the project's files."""
    return f"src/{_FOLDERS[number % len(_FOLDERS)]}/{word(1_000 + 7 * number)}.py"


def write_archive(path: Path, steps: int, seed: int = 1, session_steps: int = _SESSION_STEPS) -> None:
    """Fill a new archive with so many steps. Without a journal: one that is cut off in between is of no use."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Archive(str(path)) as archive:
        archive.run("PRAGMA journal_mode = OFF")
        with archive.transaction(durable=False):
            for number, (session_id, written) in enumerate(sessions(steps, seed, session_steps)):
                session = touch_session(archive, session_id, BEGIN + number * session_steps * _MINUTE)
                writer = StepWriter(archive, session, None)
                for step in written:
                    writer.add(step, pack(step.text))


def sessions(steps: int, seed: int = 1, each: int = _SESSION_STEPS) -> Iterator[tuple[str, Iterator[Step]]]:
    """So many steps, session by session."""
    writing = _Writing(seed)
    for number in range(0, steps, each):
        written = itertools.islice(writing.session(number), min(each, steps - number))
        yield f"session-{number // each:05}", written


class _Writing:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = [word(rank) for rank in range(_WORDS)]
        weights = ((rank + _OFFSET) ** -_EXPONENT for rank in range(_WORDS))
        self._cumulative = list(itertools.accumulate(weights))

    def session(self, first: int) -> Iterator[Step]:
        """The steps of a session without an end."""
        own = [self._words[int(_FIRST_OWN * (_WORDS / _FIRST_OWN) ** self._random.random())] for _ in range(_OWN_WORDS)]
        cumulative = list(itertools.accumulate(1 / (rank + _OFFSET) for rank in range(_OWN_WORDS)))
        ticket = f"T-{first // _SESSION_STEPS:05}"
        files = [file_name(self._random.randrange(2_000)) for _ in range(12)]
        for number in itertools.count(first):
            kind, tool = self._kind(number - first)
            median, spread = _LENGTHS[kind]
            length = min(_MOST_WORDS, int(median * self._random.lognormvariate(0, spread)) + 2)
            chosen = self._random.choices(self._words, cum_weights=self._cumulative, k=length - length // 2)
            chosen += self._random.choices(own, cum_weights=cumulative, k=length // 2)
            self._random.shuffle(chosen)
            if kind == PROMPT:
                chosen.append(ticket)
            if kind in {PROMPT, TOOL_RESULT}:
                chosen.append(self._random.choice(files))
            text = " ".join(chosen)
            if tool is not None:
                text = json.dumps({"file_path": self._random.choice(files), "content": text})
            yield Step(
                uuid=str(uuid.UUID(int=self._random.getrandbits(128), version=4)),
                block=0,
                kind=kind,
                at=BEGIN + number * _MINUTE,
                text=text,
                tool=tool,
                starts_turn=kind == PROMPT,
            )

    def _kind(self, position: int) -> tuple[str, str | None]:
        """A turn is a prompt, then calls with a thought or a text before them and a result behind them."""
        place = position % (3 * _TURN_CALLS + 1)
        if place == 0:
            return PROMPT, None
        if place % 3 == 1:
            return self._random.choice((THINKING, TEXT)), None
        return (TOOL_CALL, self._random.choice(_TOOLS)) if place % 3 == 2 else (TOOL_RESULT, None)
