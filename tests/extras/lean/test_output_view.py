"""Where an output tells of trouble, also where it is long and repeats itself."""

from __future__ import annotations

import pytest

from unified_state.extras.lean.rules.output_view import trouble_places

REPEATED = "".join(f"{number} handled request {number} of many\n" for number in range(10_000))
VARIOUS = "".join(f"{'abcdefgh'[number % 8] * (number % 90)} {number}\n" for number in range(10_000))


@pytest.mark.parametrize("filler", [REPEATED, VARIOUS, "x" * 400_000 + "\n"])
@pytest.mark.parametrize(
    "line", ["handled request with ERROR 7\n", "it was not found\n", "7 FAIL\n", "\u2717 the pool\n"]
)
def test_one_line_of_trouble_among_many_is_found(filler: str, line: str) -> None:
    places = trouble_places(filler + line + filler)
    assert [filler.count("\n") + 1] == [(filler + line + filler).count("\n", 0, place) + 1 for place in places]


def test_digits_within_a_word_make_it_another() -> None:
    assert trouble_places(REPEATED + "err0r er1ror\n" + REPEATED) == []
