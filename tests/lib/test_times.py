"""Times, judged by `datetime`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW
from unified_state.lib.times import UNKNOWN_AGE, age_text, to_milliseconds, to_text

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000

moments = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)).map(  # noqa: DTZ001  # st wants it
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
)
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def milliseconds_of(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


@given(moments)
def test_a_time_is_written_as_datetime_writes_it(moment: datetime) -> None:
    expected = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert to_text(milliseconds_of(moment)) == expected


@given(moments)
def test_what_is_written_is_read_again(moment: datetime) -> None:
    assert to_milliseconds(to_text(milliseconds_of(moment))) == milliseconds_of(moment)


@given(moments, zones, st.sampled_from(["seconds", "milliseconds", "microseconds"]))
def test_a_time_with_an_offset_is_read_as_datetime_means_it(moment: datetime, zone: timezone, digits: str) -> None:
    local = moment.astimezone(zone)
    expected = datetime.fromisoformat(local.isoformat(timespec=digits))
    assert to_milliseconds(local.isoformat(timespec=digits)) == milliseconds_of(expected)


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("2026-11-21t23:07:27z", "2026-11-21T23:07:27.000Z"),
        ("2026-11-21 23:07:27", "2026-11-21T23:07:27.000Z"),
        ("2026-11-21T23:07:27,5Z", "2026-11-21T23:07:27.500Z"),
        ("2026-11-21T23:07:27+0130", "2026-11-21T21:37:27.000Z"),
        ("2026-11-21T23:07:27-01", "2026-11-22T00:07:27.000Z"),
    ],
)
def test_other_forms_of_iso_8601_are_read(text: str, same_as: str) -> None:
    milliseconds = to_milliseconds(text)
    assert milliseconds is not None
    assert to_text(milliseconds) == same_as


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "2026-11-21",
        "2026-11-21X23:07:27Z",
        "2026-13-21T23:07:27Z",
        "2026-02-30T23:07:27Z",
        "2026-11-21T25:07:27Z",
        "2026-11-21T23:07:61Z",
        "2026-11-21T23:07:27.3x7Z",
        "2026-11-21T23:07:27 in the evening",
    ],
)
def test_what_is_no_time_is_none(text: object) -> None:
    assert to_milliseconds(text) is None


@given(st.text() | st.text("0123456789-:.,+ZTzt ", max_size=30))
def test_no_text_is_too_odd_to_be_asked(text: str) -> None:
    found = to_milliseconds(text)
    assert found is None or isinstance(found, int)


@pytest.mark.parametrize(
    ("milliseconds", "told"),
    [
        (-MINUTE, "just now"),  # by another clock
        (0, "just now"),
        (MINUTE - 1, "just now"),
        (MINUTE, "1 min ago"),
        (HOUR - 1, "59 min ago"),
        (HOUR, "1 h ago"),
        (2 * DAY - 1, "47 h ago"),
        (2 * DAY, "2 days ago"),
        (400 * DAY, "400 days ago"),
    ],
)
def test_an_age_is_told_in_the_unit_that_fits(milliseconds: int, told: str) -> None:
    assert age_text(NOW, NOW - milliseconds) == told


@pytest.mark.parametrize("at", [None, 0, -1, NOW + 5 * HOUR])
def test_a_time_that_is_missing_or_still_to_come_has_no_age(at: int | None) -> None:
    assert age_text(NOW, at) == UNKNOWN_AGE
