"""The times in a query: "in March", "yesterday", "last week", "2026-03-14", "3 days ago".

A month without a year matches that month of any year, because people may mean the last or the next one.
"""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.lib.record import Record
from unified_state.lib.times import to_milliseconds, to_text

DAY = 86_400_000  # milliseconds
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SPANS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30, "months": 30}
_TELLING = """
yesterday today tomorrow tonight morning week weekend month year years ago last next since recently
monday tuesday wednesday thursday friday saturday sunday spring summer winter
"""
_TIME_WORDS = frozenset([*_TELLING.split(), *_MONTHS]) - {"may"}
_UNITS = {"h": DAY // 24, "d": DAY, "w": 7 * DAY}
_DIGITS = 5
_YEARS = range(1990, 2100)


class TimesOfQuery(Record):
    """The times in a query: spans in milliseconds, and months of any year such as `03`."""

    spans: tuple[tuple[int, int], ...] = ()
    months: tuple[str, ...] = ()

    def holds(self, at: int) -> bool:
        """Return whether a time is in one of them."""
        is_in_span = any(begin <= at < end for begin, end in self.spans)
        return is_in_span or (bool(self.months) and to_text(at)[5:7] in self.months)


def times_of(query: str, now: int) -> TimesOfQuery:
    """Return the times in a query, relative to now, in UTC."""
    words = "".join(sign if sign.isalnum() or sign == "-" else " " for sign in query.lower()).split()
    spans, months = [], []
    for position, word in enumerate(words):
        before = words[position - 1] if position else ""
        after = words[position + 1] if position + 1 < len(words) else ""
        has_year = _is_short(after) and int(after) in _YEARS
        if word in _MONTHS and (word != "may" or has_year or before in {"in", "of", "since", "during", "last"}):
            month = _MONTHS.index(word) + 1
            if has_year:
                spans.append(_month(int(after), month))
            else:
                months.append(f"{month:02}")
        else:
            spans += _span(word, before, after, now)
    return TimesOfQuery(tuple(spans), tuple(months))


def asks_when(query: str) -> bool:
    """Return whether a question asks for a time."""
    return query.lower().lstrip().startswith("when ")


def tells_when(text: str) -> bool:
    """Return whether a text mentions time, as nearly every answer to a question for a time does."""
    words = "".join(sign if sign.isalpha() else " " for sign in text.lower()).split()
    return not _TIME_WORDS.isdisjoint(words)


def begin_of(text: str, now: int) -> int | None:
    """Return the time of `--since`, or None: a date, a time, or words such as `yesterday` and `3 days ago`."""
    if text[:4].isdecimal() and text[4:5] == "-":
        return _moment(text)
    if _is_short(text[:-1]) and text[-1].lower() in _UNITS:
        return now - int(text[:-1]) * _UNITS[text[-1].lower()]
    match text.lower().split():
        case [number, unit, "ago"] if _is_short(number) and unit in _SPANS:
            return now - now % DAY - int(number) * _SPANS[unit] * DAY
    return min((begin for begin, _ in times_of(text, now).spans), default=None)


def time_named(text: str, now: int, option: str = "") -> int:
    """Return the time that a user names. Raises UsageError if it is none."""
    begin = begin_of(text, now)
    if begin is None:
        message = f"{option}{text[:60]!r} is no time"
        raise UsageError(message, "say 2026-03-14, 3d, yesterday, or 'last week'")
    return begin


def _span(word: str, before: str, after: str, now: int) -> list[tuple[int, int]]:
    today = now - now % DAY
    if word in {"today", "tonight"}:
        return [(today, today + DAY)]
    if word == "yesterday":
        return [(today - DAY, today)]
    if word in _SPANS and before == "last":
        return [(today - 2 * _SPANS[word] * DAY, today)]
    if word in _SPANS and after == "ago" and _is_short(before):
        ago = today - int(before) * _SPANS[word] * DAY
        return [(ago - (_SPANS[word] - 1) * DAY, ago + _SPANS[word] * DAY)]
    begin = _moment(word[: len("2026-03-14")])
    return [] if begin is None else [(begin, begin + DAY)]


def _moment(text: str) -> int | None:
    """Return the time of an ISO 8601 date or time: `2026-03-14`, `2026-03-14T09:30`, `2026-03-14T09:30:00Z`."""
    if text[4:5] != "-" or text[7:8] != "-":
        return None
    return to_milliseconds(text + {10: "T00:00:00Z", 16: ":00Z"}.get(len(text), ""))


def _is_short(word: str) -> bool:
    """Return whether a word is a short number. A longer one is not an amount of time."""
    return word.isdecimal() and len(word) <= _DIGITS


def _month(year: int, month: int) -> tuple[int, int]:
    after, before = divmod(year * 12 + month, 12)
    begin, end = (f"{in_year}-{number:02}-01T00:00:00Z" for in_year, number in ((year, month), (after, before + 1)))
    return to_milliseconds(begin) or 0, to_milliseconds(end) or 0
