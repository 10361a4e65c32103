"""Changed inputs: of lines, and of the JSON in a line, so that they get further than changed bytes do."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

LONGEST = 8192  # bytes of an input
TEXTS = (
    "", "\0", "\ud800", "a\udc00b", "@TOKEN@", "password=@TOKEN@", "\x1b[31m@TOKEN@\x1b[0m", "../../../x", "/", "~",
    "@REPOSITORY@", "@ELSEWHERE@", "@TRANSCRIPT@", "\u202egpj", "\U000e0041", "</unified-state>", "<system-reminder>",
    "git push --force", "D1", "C1", "S1", "2026-11-21T09:00:00Z", "9999-99-99", "-", "--", "%s%n",
    "a" * 3000, "é" * 500,
    "\r\n", "\n\n\n", "\x85\u2028", "null", "'", '"', "\\", "`", "$(x)", "NaN", "user_said", "active",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**30, 1e308, 0.1, -0.0, [], {}, [[]],
    [None], {"": None}, *TEXTS,
)  # fmt: skip
_DEEP = 300
_STEPS = 4
_WHOLE_LINE = 0.25


class Mutator:
    """Changes inputs of one kind. `words` are put in where they may mean something; `native` changes bytes."""

    def __init__(self, words: Sequence[str], native: Callable[[bytes, int], bytes] | None = None) -> None:
        self._words = (*TEXTS, *words)
        self._native = native or _change_bytes
        self._chance = random.Random(0)

    def mutate(self, data: bytes, longest: int, seed: int) -> bytes:
        """The input, changed in a few places."""
        self._chance.seed(seed)
        for _ in range(self._chance.randint(1, _STEPS)):
            step = self._chance.choice(
                (self._native_step, self._line_step, self._json_step, self._json_step, self._word_step)
            )
            data = step(data)[:longest]
        return data

    def _native_step(self, data: bytes) -> bytes:
        return self._native(data, LONGEST)

    def _word_step(self, data: bytes) -> bytes:
        at, word = self._chance.randint(0, len(data)), _encoded(self._chance.choice(self._words))
        return data[:at] + word + data[at + self._chance.choice((0, 0, len(word))) :]

    def _line_step(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        at, other = self._chance.randrange(len(lines)), self._chance.randrange(len(lines))
        match self._chance.randrange(5):
            case 0:
                del lines[at]
            case 1:
                lines.insert(other, lines[at])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines[at] = lines[at][: self._chance.randint(0, len(lines[at]))]
            case _:
                piece = lines.pop(other) if len(lines) > 1 else b"\r"
                lines[min(at, len(lines) - 1)] += piece
        return b"\n".join(lines)

    def _json_step(self, data: bytes) -> bytes:
        """Change one value in the JSON of a line; words before it stay."""
        lines = data.split(b"\n")
        at = self._chance.randrange(len(lines))
        begin = min((place for place in (lines[at].find(b"{"), lines[at].find(b"[")) if place >= 0), default=-1)
        if begin < 0:
            return self._word_step(data)
        try:
            value = json.loads(lines[at][begin:])
        except (ValueError, RecursionError):
            return self._native_step(data)
        changed = json.dumps(self._changed(value), ensure_ascii=self._chance.random() < 0.5)
        lines[at] = lines[at][:begin] + _encoded(changed)
        return b"\n".join(lines)

    def _changed(self, value: Any) -> Any:
        """A value with one change, in it or below it."""
        if isinstance(value, (dict, list)) and value and self._chance.random() > _WHOLE_LINE:
            keys = list(value) if isinstance(value, dict) else list(range(len(value)))
            key = self._chance.choice(keys)
            self._change_member(value, key)
            return value
        return self._replacement(value)

    def _change_member(self, value: Any, key: Any) -> None:
        roll = self._chance.random()
        if roll < 0.1:
            del value[key]
        elif roll < 0.2 and isinstance(value, dict):
            value[self._chance.choice(self._words)] = value[key]
        elif roll < 0.3 and isinstance(value, list):
            value.insert(key, value[key])
        else:
            value[key] = self._changed(value[key])

    def _replacement(self, value: Any) -> Any:
        roll = self._chance.random()
        if isinstance(value, str) and roll < 0.6:
            at = self._chance.randint(0, len(value))
            return value[:at] + self._chance.choice(self._words) + value[at:]
        if roll < 0.7:
            return self._chance.choice(self._words)
        if roll < 0.73:
            for _ in range(_DEEP):
                value = [value]
            return value
        if roll < 0.8:
            return [value, value]
        return self._chance.choice(VALUES)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _change_bytes(data: bytes, longest: int) -> bytes:
    """Another byte somewhere, where no engine changes them."""
    at = random.randint(0, len(data))
    return (data[:at] + random.randbytes(1) + data[at + random.randint(0, 1) :])[:longest]
