"""The quick look misses no secret: whatever the rules change, it sends to the rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.secrets.secret_corpus import CONTEXTS, NOTATIONS, PLACED, named, tokens
from unified_state.secrets.rules.mask import hide_private, mask_text, may_need_masking

PIECES = st.sampled_from(
    (
        "password", "secret", "api_key", "TOKEN", "--password", "-p", "mysql", "curl -u", "machine x login y", "ENV",
        "=", ":", ": ", " ", "\n", "\t", '"', "'", "`", "\\", "hunter2", "s3cr3tV4lue", "x9Kd02mPq81LzW7c", "ghp_",
        "sk-", "AKIA", "a1B2c3D4e5F6g7H8i9J0", "https://user:", "@host", "/", "hooks.slack.com/services/T00/B00/",
        "1//0", "PRIVATE KEY", "-----BEGIN ", "<private>", "</private>", "<PRIVATE >", "\x1b[31m", "\u009b1m", "é",
        "Authorization", "Bearer", "cookie", "STRIPE_KEY", "?sig", "&signature", "_", "-",
        "\uff1a", "\uff1d", "\u00a0", "\u3000", "\uff50\uff57\uff44",
        "CLIENT_S_ECRET=", "se-cret: ", "SMTP_ASSWORD=P", "API_T_OKEN",
    )
)  # fmt: skip


def is_sent(text: str) -> bool:
    """Whether the look sends a text to the rules, if they would change it."""
    return may_need_masking(text) or mask_text(hide_private(text), lambda _secret: "x") == text


@given(pieces=st.lists(PIECES | st.text(max_size=12), max_size=8))
def test_what_the_rules_change_is_sent_to_them(pieces: list[str]) -> None:
    assert is_sent("".join(pieces))


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_token_in_every_context_is_sent_to_them(context: str) -> None:
    assert [name for name, token in tokens() if not is_sent(CONTEXTS[context](token))] == []


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_named_secret_in_every_notation_is_sent_to_them(notation: str) -> None:
    assert [name for name, value in named() if not is_sent(NOTATIONS[notation](name, value))] == []


@pytest.mark.parametrize("place", PLACED)
def test_every_secret_that_its_place_shows_is_sent_to_them(place: str) -> None:
    assert is_sent(PLACED[place][0])


@pytest.mark.parametrize(
    "text",
    [
        "Please go on with the parser.",
        "Why does tests/test_lexer.py fail? It worked before lunch, I think.",
        "Three things: first the lexer, then the parser; last the printer (see docs).",
        "Bitte mach weiter, und vergiss die Umlaute nicht.",
    ],
)
def test_a_plain_prompt_is_not(text: str) -> None:
    assert not may_need_masking(text)
