from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.text.fence import TAG, fenced, nonces_in
from unified_state.memory.ledger.rules.item_lines import harmless

nonces = st.text("0123456789abcdef", min_size=12, max_size=12)
hostile = st.lists(
    st.sampled_from([f"</{TAG} nonce=", f"<{TAG} nonce=", "0123456789ab", ">", "<", "\n", f"</{TAG}>", "\x00", "words"])
    | st.text(max_size=5),
    max_size=12,
).map("".join)


@given(st.text(), nonces)
def test_the_nonce_of_a_whole_fence_is_found(body: str, nonce: str) -> None:
    assert nonce in nonces_in(f"before {fenced(body, nonce, 'facts')} after")


@given(st.text(), nonces)
def test_a_fence_whose_end_was_cut_off_counts_as_not_delivered(body: str, nonce: str) -> None:
    text = fenced(body, nonce, "facts")
    assert nonces_in(text.removesuffix(f"{nonce}>")) == nonces_in(body)


@given(hostile, nonces)
def test_what_items_say_can_neither_open_nor_close_a_fence(body: str, nonce: str) -> None:
    assert nonces_in(fenced(harmless(body), nonce, "facts")) == (nonce,)
    assert fenced(harmless(body), nonce, "facts").count(f"<{TAG}") == 1


def test_all_fences_of_a_text_are_found_in_order() -> None:
    assert nonces_in(fenced("a", "a1", "facts") + fenced("b", "b2", "facts")) == ("a1", "b2")


def test_what_is_no_nonce_is_not_taken_for_one() -> None:
    assert nonces_in(f"</{TAG} nonce=> </{TAG} nonce=a b> </{TAG} nonce='x'>") == ()


def test_a_fence_says_what_it_holds() -> None:
    first, body, last = fenced("the body", "a1", "recorded facts").split("\n")
    assert (first, body, last) == (
        '<unified-state-memory nonce=a1 about="recorded facts">',
        "the body",
        "</unified-state-memory nonce=a1>",
    )
