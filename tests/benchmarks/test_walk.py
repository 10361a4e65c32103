"""The walk that was tried, on a few hits."""

from __future__ import annotations

from benchmarks.walk import Node, walked


def test_without_edges_the_order_is_that_of_the_scores() -> None:
    assert walked([Node(1.0, 1, 1, "parser"), Node(3.0, 2, 9, "lexer"), Node(2.0, 3, 20, "queue")]) == [1, 2, 0]


def test_a_hit_that_shares_a_rare_word_with_the_best_rises() -> None:
    nodes = [Node(3.0, 1, 1, "flux capacitor"), Node(1.1, 2, 20, "lexer"), Node(1.0, 3, 40, "my capacitor")]
    assert walked(nodes) == [0, 2, 1]


def test_what_all_hits_say_changes_nothing() -> None:
    assert walked([Node(1.0, 1, 1, "parser"), Node(2.0, 2, 9, "parser")]) == [1, 0]


def test_a_hit_beside_the_best_rises_in_its_own_session_only() -> None:
    best = Node(3.0, 1, 1, "parser")
    beside, elsewhere = Node(1.0, 1, 2, "lexer"), Node(1.1, 2, 3, "queue")
    assert walked([best, beside, elsewhere]) == [0, 1, 2]
