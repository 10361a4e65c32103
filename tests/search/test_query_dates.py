from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.search.rules.query_dates import asks_when, begin_of, tells_when, times_of


def at(text: str) -> int:
    moment = to_milliseconds(text if "T" in text else f"{text}T00:00:00Z")
    assert moment is not None
    return moment


@pytest.mark.parametrize(
    ("query", "held", "not_held"),
    [
        ("what broke yesterday?", "2026-09-20T23:59:59Z", "2026-09-21"),
        ("what broke yesterday?", "2026-09-20", "2026-09-19T23:59:59Z"),
        ("today's errors", "2026-09-21T12:00:00Z", "2026-09-20T23:59:59Z"),
        ("the fix of 2026-03-14", "2026-03-14T10:00:00Z", "2026-03-15"),
        ("at 2026-03-14T09:30", "2026-03-14T10:00:00Z", "2026-03-15"),
        ("the deploy in March 2025", "2025-03-31T23:00:00Z", "2026-03-31"),
        ("in December 2025", "2025-12-31T23:59:59Z", "2026-01-01"),
        ("the deploy in March", "2024-03-02", "2024-04-02"),
        ("in may", "2025-05-31", "2025-06-01"),
        ("May 2025", "2025-05-31", "2026-05-31"),
        ("last week", "2026-09-15", "2026-09-21"),
        ("3 days ago", "2026-09-18T20:00:00Z", "2026-09-19"),
        ("2 weeks ago", "2026-09-07", "2026-09-15"),
    ],
)
def test_a_time_in_a_query_is_known(query: str, held: str, not_held: str) -> None:
    times = times_of(query, NOW)
    assert times.holds(at(held))
    assert not times.holds(at(not_held))


@pytest.mark.parametrize(
    "query", ["may we cache this?", "it may fail", "the marching order", "2026-02-30", "1234567 days ago", "ago", ""]
)
def test_what_only_looks_like_a_time_is_none(query: str) -> None:
    times = times_of(query, NOW)
    assert (times.spans, times.months) == ((), ())


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("2026-03-14", "2026-03-14"),
        ("2026-03-14T09:30", "2026-03-14T09:30:00Z"),
        ("2026-03-14 09:30", "2026-03-14T09:30:00Z"),
        ("2026-03-14T09:30:00+02:00", "2026-03-14T07:30:00Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01"),
        ("yesterday", "2026-09-20"),
        ("Today", "2026-09-21"),
        ("last week", "2026-09-07"),
        ("3 days ago", "2026-09-18"),
        ("2 weeks ago", "2026-09-07"),
        ("march 2026", "2026-03-01"),
    ],
)
def test_since_takes_a_date_a_time_or_words(text: str, begin: str) -> None:
    assert begin_of(text, NOW) == at(begin)


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("3d", 72), ("3D", 72), ("2w", 336)])
def test_since_takes_a_number_and_a_unit(text: str, hours: int) -> None:
    assert begin_of(text, NOW) == NOW - hours * 3_600_000


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "d", "soon", "-3d", "3x", "²d", "1.5d", f"{'9' * 5000}d", f"{'9' * 5000} days ago"),
        *("2026-02-30", "2026-13-01", "2026-03-14T25:00", "2026-03-14Tnoon", "2026-3-4", "2026-03"),
        *("1700111123", "2024003014", "march"),
    ],
)
def test_since_is_none_for_what_is_no_time(text: str) -> None:
    assert begin_of(text, NOW) is None


@given(st.text(), st.integers(-(2**62), 2**62))
def test_any_text_and_any_clock_can_be_asked(text: str, now: int) -> None:
    times_of(text, now).holds(now)
    begin_of(text, now)
    tells_when(text)
    asks_when(text)


@given(st.dates())
def test_every_day_is_found_by_its_date(day: object) -> None:
    begin = begin_of(str(day), NOW)
    assert begin is not None
    assert to_text(begin)[:10] == str(day)
    assert times_of(f"on {day}.", NOW).spans == ((begin, begin + 86_400_000),)
