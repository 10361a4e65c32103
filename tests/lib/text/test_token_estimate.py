from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.text.exact_tokens import count_tokens
from unified_state.lib.text.token_estimate import estimate_tokens

PROSE = "Whoever reads this later should find the path of the file, the command that failed, and what was decided. "
CODE = 'def main(arguments: list[str]) -> int:\n    """Run it."""\n    return run(arguments[0])\n'
JSON = '{"id":"D7","decision":"Use SQLite","rationale":"one file, no server","timestamp":"2026-11-21T23:07:27.377Z"}'
EMOJI = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f680 "
CHINESE = "我们决定使用数据库来保存会话的状态因为它只有一个文件。"


def test_the_guess_is_rather_too_many_than_too_few() -> None:
    texts = [PROSE * 5, CODE * 5, CHINESE * 5]
    guesses = [estimate_tokens(text) for text in texts]
    assert all(guess >= count for guess, count in zip(guesses, count_tokens(texts), strict=True))


def test_the_guess_is_of_the_right_size() -> None:
    texts = [PROSE * 5, CODE * 5, JSON * 5, CHINESE * 5, EMOJI * 20]
    guesses = [estimate_tokens(text) for text in texts]
    assert all(count / 2 < guess < count * 2 for guess, count in zip(guesses, count_tokens(texts), strict=True))


def test_nothing_has_next_to_no_tokens() -> None:
    assert estimate_tokens("") <= 1


@given(st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)), st.text())
def test_a_longer_text_is_never_guessed_to_be_smaller(text: str, more: str) -> None:
    assert estimate_tokens(text + more) >= estimate_tokens(text)
