"""Of all that could be told, that is chosen which tells most that is new, for its size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.text import estimate_tokens
from unified_state.restore.rules.value import Piece, choose, names_in


def pieces(*texts: str, age: int = 0, weight: float = 1.0) -> list[Piece]:
    return [Piece(text=text, tokens=estimate_tokens(text), age=age, weight=weight) for text in texts]


PORT, OTHER_PORT, FILE = "The port is 8443 here.", "The port is 9443 here.", "See src/reader.py for it."


def test_what_has_room_is_chosen_in_order() -> None:
    assert choose(pieces(PORT, FILE), "", 100) == [0, 1]


def test_a_piece_without_anything_new_comes_last() -> None:
    assert choose(pieces(PORT, f"So {PORT}", FILE), "", 16) == [0, 2]
    assert choose(pieces(PORT, FILE), f"Done: {PORT}", 10) == [1]
    assert choose(pieces(PORT, FILE), f"Done: {FILE}", 10) == [0]
    assert choose(pieces(PORT, FILE), f"{PORT} {FILE}", 100) == [0, 1]


def test_the_newer_of_two_alike_comes_first() -> None:
    new, old = pieces(PORT)[0], pieces(OTHER_PORT, age=9)[0]
    assert choose([new, old], "", 8) == [0]
    assert choose([old, new], "", 8) == [1]


def test_a_heavier_one_comes_first() -> None:
    assert choose([*pieces(PORT), *pieces(OTHER_PORT, weight=4.0)], "", 8) == [1]


def test_the_shorter_of_two_with_the_same_names_comes_first() -> None:
    assert choose(pieces(f"{PORT} And so it was, and so on.", PORT), "", 16) == [1]


def test_names_are_words_with_a_digit_a_mark_or_a_capital_inside() -> None:
    assert names_in("The `readAll` of src/reader.py, well-known, took 30 ms; see #12, HTTP and A.") == {
        "readAll", "src/reader.py", "30", "#12", "HTTP",
    }  # fmt: skip


def test_cjk_words_count() -> None:
    assert choose(pieces("端口是八四四三"), "", 100) == [0]


@given(st.lists(st.tuples(st.text(max_size=60), st.integers(0, 99), st.floats(0, 4)), max_size=20), st.integers(0, 80))
def test_it_keeps_within_the_tokens(given_: list[tuple[str, int, float]], tokens: int) -> None:
    found = [Piece(text=text, tokens=1 + estimate_tokens(text), age=age, weight=weight) for text, age, weight in given_]
    chosen = choose(found, "", tokens)
    assert sum(found[number].tokens for number in chosen) <= tokens
    assert chosen == sorted(set(chosen))
