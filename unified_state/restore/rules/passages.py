"""Cut what the agent said into passages: some sentences or list entries that stand together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from unified_state.lib.text import CUT_MARK, cut, one_line

_LONGEST, _SHORTEST = 400, 24  # characters
_ENDS = re.compile(r"(?<=[.!?;]) ")  # of sentences
_FENCE = "```"
_RULES = frozenset("-|: =*_")  # a line of these alone separates
# Of a decision or of a cause, as the first version of the product had them.
_DECIDING = ("decided", "choosing", "approach", "instead of", "rather than", "because", "root cause")
_ANNOUNCING = ("let me ", "now let me ", "now i'll ", "i'll ", "now i need to ", "let's ", "first, let me ")


def passages(text: str) -> Iterator[str]:
    """Yield the passages of a text, without those that only announce what follows them."""
    for lines in _blocks(text):
        for part in sentences(lines):
            if len(part) >= _SHORTEST and not is_announcement(part):
                yield part


def decides(passage: str) -> bool:
    """Return whether a passage has a word of a decision or of a cause."""
    words = passage.lower()
    return any(word in words for word in _DECIDING)


def sentences(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines joined up to the length of a passage. A longer line is cut between its sentences."""
    part = ""
    for line in filter(None, lines):
        for sentence in [line] if len(line) <= _LONGEST else (cut(one, _LONGEST) for one in _ENDS.split(line)):
            if part and len(part) + 1 + len(sentence) > _LONGEST:
                yield part
                part = ""
            part = f"{part} {sentence}".strip()
    if part:
        yield part


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each paragraph or list, without code, headings and rules, which leave a mark. A line that ends
    with a colon belongs to what follows it.
    """
    lines: list[str] = []
    is_code = is_gap = False
    for line in map(one_line, text.splitlines()):
        is_fence = line.startswith(_FENCE)
        is_code ^= is_fence
        if is_code or is_fence:
            is_gap = True
        elif line and not line.startswith("#") and not _RULES.issuperset(line):
            lines.append(f"{CUT_MARK} {line}" if is_gap and lines else line)
            is_gap = False
        elif lines and not lines[-1].endswith(":"):
            yield lines
            lines = []
        else:
            is_gap |= line.startswith("#")
    if lines:
        yield lines


def is_announcement(part: str) -> bool:
    """Return whether a passage only announces what follows it: `Now the tests:`, `Let me look at it.`."""
    is_short = len(part) < _LONGEST // 2
    return is_short and (part.endswith(":") or part.lower().startswith(_ANNOUNCING))
