"""A quick guess at the number of tokens, for texts that are cut to a budget on the way into a conversation.

English, code and JSON have 3 to 4.5 characters a token in o200k, CJK about 1.2; current Claude tokenizers give more
tokens than o200k, so the guess is on the high side. What is exact is in `tokens`.
"""

from __future__ import annotations

_CHARACTERS_PER_TOKEN = 3.6


def estimate_tokens(text: str) -> int:
    """About the number of tokens of a text, rather too many than too few."""
    if text.isascii():
        return round(len(text) / _CHARACTERS_PER_TOKEN + 0.5)
    plain = len(text.encode("ascii", "ignore"))
    return round(plain / _CHARACTERS_PER_TOKEN + 0.8 * (len(text) - plain) + 0.5)
