"""Parts of a long text: pages of an answer, lines by their numbers, and the lines that match a pattern.

A client truncates a long answer, or moves it to a file. So an answer is split into pages: as many whole entries of a
list as fit, or a window over the characters of long texts. Invariant: all pages of a value together have each entry and
each character once, and no page is empty.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from unified_state.errors import UsageError
from unified_state.lib.json_text import dump_ascii_json, dump_json, parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import CUT_MARK, boundary
from unified_state.lib.tokens import upper_bound

ENTRIES, CHARACTERS = "entries", "characters"
PAGE_TOKENS = 15_500  # o200k tokens at most; the client's limit is 25,000 of its own tokens, up to 1.6 times as many
_ENTRY_TOKENS = 3_000  # of one entry of a list; a request for that entry returns all of it
_LONG = 400  # characters above which a text is shown in a window
_MOST_PER_TOKEN = 3  # characters: of digits


class Page(Record):
    """The part of an answer: `shown` of `total` entries or characters, from `offset` on. `next_offset` is None on the
    last page.
    """

    unit: str
    offset: int
    shown: int
    total: int
    next_offset: int | None


def page_of_entries(
    entries: Sequence[dict[str, Any]], offset: int, tokens: int = PAGE_TOKENS
) -> tuple[list[dict[str, Any]], Page]:
    """Return the entries from `offset` on that fit, at least one, each shortened if it alone would fill the page.

    Raises UsageError for an offset beyond the end.
    """
    _check(offset, len(entries), ENTRIES)
    shown: list[dict[str, Any]] = []
    for entry in entries[offset:]:
        short = shortened(entry)
        tokens -= _size(short) + 1  # for the comma
        if shown and tokens < 0:
            break
        shown.append(short)
    return shown, _page(ENTRIES, offset, len(shown), len(entries))


def page_of_texts(value: dict[str, Any], offset: int, tokens: int = PAGE_TOKENS) -> tuple[dict[str, Any], Page]:
    """Return the value, or one with a window over its long texts, as long as it fits.

    `offset` counts the characters of all of them. Raises UsageError for an offset beyond the end.
    """
    if _size(value) > tokens:  # lists and objects become texts, too
        value = {name: dump_json(field) if isinstance(field, dict | list) else field for name, field in value.items()}
    texts = {name: field for name, field in value.items() if isinstance(field, str) and len(field) > _LONG}
    total = sum(map(len, texts.values()))
    _check(offset, total, CHARACTERS)
    rest = _size({name: field for name, field in value.items() if name not in texts})
    pieces = list(_window(list(texts.values()), offset, max(tokens - rest, tokens // 4)))
    page = _page(CHARACTERS, offset, sum(map(len, pieces)), total)
    return {**value, **dict(zip(texts, pieces, strict=True))}, page


def fields_that_fit(fields: dict[str, Any], tokens: int) -> tuple[dict[str, Any], list[str]]:
    """Return the fields that fit, in order, and the names of the others."""
    kept: dict[str, Any] = {}
    for name, value in fields.items():
        size = _size(value)
        if size <= tokens:
            kept[name] = value
            tokens -= size
    return kept, [name for name in fields if name not in kept]


def shortened(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the entry with its long fields cut if it is too long. `cut` then has the full length of each cut field."""
    if _size(entry) <= _ENTRY_TOKENS:
        return entry
    texts = {name: value if isinstance(value, str) else dump_json(value) for name, value in entry.items()}
    long = {name: text for name, text in texts.items() if len(text) > _LONG}
    ends = {name: _fitting(text, 0, _ENTRY_TOKENS // len(long)) for name, text in long.items()}
    short = {name: long[name][:end] + CUT_MARK for name, end in ends.items() if end < len(long[name])}
    return {**entry, **short, "cut": {name: len(long[name]) for name in short}} if short else entry


def _window(texts: Sequence[str], offset: int, tokens: int) -> Iterator[str]:
    """Yield the part of each text in the window that begins at `offset` and has so many tokens."""
    for text in texts:
        begin, offset = min(offset, len(text)), max(0, offset - len(text))
        if begin == len(text) or tokens <= 0:
            yield ""
            continue
        end = _fitting(text, begin, tokens)
        tokens = tokens - _size(text[begin:end]) if end == len(text) else 0
        yield text[begin:end]


def _fitting(text: str, begin: int, tokens: int) -> int:
    """Return the end of a part from `begin` on that fits into so many tokens, at least one character."""
    end = min(len(text), begin + max(1, tokens) * _MOST_PER_TOKEN)
    while end > begin + 1 and (size := _size(text[begin:end])) > tokens:
        end = begin + max(1, (end - begin) * tokens // size)
    whole = boundary(text, end) if end < len(text) else end
    return whole if whole > begin else end


def _size(value: Any) -> int:
    return upper_bound(dump_json(value))


def _check(offset: int, total: int, unit: str) -> None:
    if offset and offset >= total:
        message = f"offset is {offset}, and there are {total} {unit}"
        raise UsageError(message, "the `page` of an answer names the next offset")


def _page(unit: str, offset: int, shown: int, total: int) -> Page:
    end = offset + shown
    return Page(unit=unit, offset=offset, shown=shown, total=total, next_offset=end if end < total else None)


_MOST_MATCHES = 200
# characters; the maximum length of a line, and the context around a match in a longer one
_LONG_LINE, _AROUND = 600, 250


_RANGE = re.compile(r"(\d{0,18})\d*\s*(?:(:)\s*(\d{0,18})\d*)?", re.ASCII)  # no text has more lines


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, without their newlines."""
    return text.removesuffix("\n").split("\n")


def parse_range(text: str, count: int) -> tuple[int, int]:
    """Return the first and last line of a range: `200:260`, `200:`, `:60` or `200`. Raises UsageError."""
    found = _RANGE.fullmatch(text.replace(",", "").strip())
    if found is None or not (found[1] or found[3]):
        message = f"{text[:60]!r} is no range of lines"
        raise UsageError(message, "say 200:260, 200:, :60 or 200")
    begin = max(1, int(found[1] or "1"))
    end = min(count, int(found[3]) if found[3] else count if found[2] else begin)
    if begin > end:
        message = f"there are no lines {text[:60]}: it has {count:,}"
        raise UsageError(message, "say 200:260, 200:, :60 or 200")
    return begin, end


def _around(number: int, line: str, start: int, end: int) -> str:
    """Return a line, or the part around a match in it, after its number, as `grep -n` prints it."""
    if len(line) > _LONG_LINE:
        start, end = max(0, start - _AROUND), min(len(line), end + _AROUND)
        line = f"[… {start:,} characters]{line[start:end]}[… {len(line) - end:,} characters]"
    return f"{number}:{line}"


_SECONDS = 5.0
_LONGEST_PATTERN = 1_000  # characters
_LOOK = """
import json, re, sys
pattern, lines = json.load(sys.stdin)
try:
    search = re.compile(pattern).search
except (re.error, OverflowError, RecursionError) as error:
    print(json.dumps(str(error)))
else:
    found = ((number, search(line)) for number, line in enumerate(lines))
    print(json.dumps([[number, *match.span()] for number, match in found if match]))
"""
_HINT = "it is a regular expression of Python; put a \\ before a literal character such as ( or ["


def matches_in(lines: Sequence[str], pattern: str, first: int = 1, seconds: float = _SECONDS) -> tuple[int, list[str]]:
    """Return how many lines match a pattern, and the first of these as shown, each after its number. A separate process
    runs the search, because some patterns take exponential time.

    Raises UsageError for an invalid pattern and for a timeout.
    """
    import subprocess  # slow to load

    if len(pattern) > _LONGEST_PATTERN:
        message = f"a pattern of {len(pattern):,} characters is too long"
        raise UsageError(message, f"at most {_LONGEST_PATTERN:,}")
    given = dump_ascii_json([pattern, list(lines)]).encode()
    command = [sys.executable, "-I", "-S", "-c", _LOOK]
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        message = f"the pattern {pattern[:60]!r} was not done in {seconds:g} s"
        raise UsageError(message, "say it without repeats inside repeats, or look at fewer lines") from None
    found = parse_json(done.stdout.decode()) if done.returncode == 0 else "no memory for it"
    if isinstance(found, str):
        message = f"{pattern[:60]!r} is no pattern: {found}"
        raise UsageError(message, _HINT)
    return len(found), [_around(first + at, lines[at], *span) for at, *span in found[:_MOST_MATCHES]]
