from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unified_state.restore.rules.knapsack import Group, Room, choose

PART, OTHER = "brief", "working_set"


def room(tokens: float, units: int = 10_000) -> Room:
    return Room(tokens, {PART: units, OTHER: units})


def chosen(
    offers: list[tuple[float, float, int, str, str]], groups: dict[str, Group], space: Room
) -> dict[str, list[str]]:
    choose(offers, groups, space)
    return {name: group.texts for name, group in groups.items()}


def test_what_is_worth_more_for_its_tokens_comes_first() -> None:
    offers = [(9.0, 9.0, 9, "a", "dear"), (3.0, 1.0, 9, "a", "cheap"), (4.0, 2.0, 9, "a", "middling")]
    assert chosen(offers, {"a": Group(PART)}, room(4)) == {"a": ["cheap", "middling"]}


def test_nothing_has_a_share_of_its_own() -> None:
    offers = [(5.0, 1.0, 9, "a", f"a{number}") for number in range(9)] + [(1.0, 1.0, 9, "b", "b")]
    groups = {"a": Group(PART), "b": Group(OTHER)}
    assert chosen(offers, groups, room(9)) == {"a": [f"a{number}" for number in reversed(range(9))], "b": []}


def test_what_has_no_room_leaves_it_to_what_has() -> None:
    offers = [(90.0, 9.0, 9, "a", "too large"), (1.0, 2.0, 9, "b", "fits")]
    assert chosen(offers, {"a": Group(PART), "b": Group(PART)}, room(5)) == {"a": [], "b": ["fits"]}


def test_a_group_is_paid_for_with_its_first_offer() -> None:
    title = "[TITLE] " + "x" * 100
    group = Group(PART, title)
    space = room(1000)
    choose([(1.0, 2.0, 10, "a", "one"), (1.0, 2.0, 10, "a", "two")], {"a": group}, space)
    assert space.tokens == 1000 - group.tokens - 4
    assert group.units == len(title) + 1


def test_a_group_for_which_there_is_no_room_has_nothing() -> None:
    assert chosen([(9.0, 1.0, 9, "a", "one")], {"a": Group(PART, "x" * 100)}, room(10)) == {"a": []}


def test_what_a_group_is_worth_itself_counts_for_its_first_offer() -> None:
    groups = {"a": Group(PART, worth=9.0), "b": Group(PART)}
    assert chosen([(1.0, 5.0, 9, "a", "one"), (5.0, 5.0, 9, "b", "two")], groups, room(6)) == {"a": ["one"], "b": []}


def test_the_units_of_one_part_do_not_limit_the_other() -> None:
    space = Room(1000, {PART: 10, OTHER: 1000})
    offers = [(9.0, 1.0, 11, "a", "one"), (1.0, 1.0, 11, "b", "two")]
    assert chosen(offers, {"a": Group(PART), "b": Group(OTHER)}, space) == {"a": [], "b": ["two"]}


def test_of_equals_the_first_group_comes_first() -> None:
    offers = [(1.0, 3.0, 9, name, name) for name in "abc"]
    groups = {name: Group(PART) for name in "abc"}
    assert chosen(offers, groups, room(4)) == {"a": ["a"], "b": [], "c": []}


def test_a_line_takes_room_only_if_it_fits_whole() -> None:
    space = room(10, 20)
    assert not space.take_line(PART, "x" * 20)
    assert space.take_line(PART, "x" * 19)
    assert not space.take_line(PART, "")
    assert space.is_open(OTHER)
    assert not space.is_open(PART)


prices = st.lists(
    st.tuples(st.floats(0, 1e6), st.floats(0, 50), st.integers(0, 200), st.sampled_from("abc")), max_size=40
)


@given(prices, st.floats(0, 300), st.integers(0, 500))
def test_no_limit_is_ever_passed(priced: list[tuple[float, float, int, str]], tokens: float, units: int) -> None:
    offers = {str(number): (*price, str(number)) for number, price in enumerate(priced)}
    groups = {"a": Group(PART, "title"), "b": Group(OTHER, worth=3.0), "c": Group(OTHER, "other title")}
    choose(offers.values(), groups, room(tokens, units))
    told = [group for group in groups.values() if group.texts]
    assert sum(group.tokens + sum(offers[text][1] for text in group.texts) for group in told) <= tokens + 1e-6
    for part in (PART, OTHER):
        taken = [group.units + sum(offers[text][2] for text in group.texts) for group in told if group.part == part]
        assert sum(taken) <= units
