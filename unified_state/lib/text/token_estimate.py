"""A quick guess at the number of tokens, for texts that are cut to a budget on the way into a conversation.

English, code and JSON have 3 to 4.5 characters a token in o200k, CJK about 1.2, and an emoji is two tokens; current
Claude tokenizers give more tokens than o200k, so the guess is on the high side. What is exact is in `tokens`.
"""

from __future__ import annotations

from unified_state.lib.text.truncate import utf16_units

_CHARACTERS_PER_TOKEN = 3.6
_TOKENS_OF_OTHERS, _TOKENS_BEYOND_BMP = 0.8, 2.0


def estimate_tokens(text: str) -> int:
    """About the number of tokens of a text, rather too many than too few."""
    if text.isascii():
        return round(len(text) / _CHARACTERS_PER_TOKEN + 0.5)
    plain = len(text.encode("ascii", "ignore"))
    beyond = utf16_units(text) - len(text)
    others = len(text) - plain - beyond
    guess = plain / _CHARACTERS_PER_TOKEN + _TOKENS_OF_OTHERS * others + _TOKENS_BEYOND_BMP * beyond
    return round(guess + 0.5)
