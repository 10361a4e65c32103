"""Exact token counts, offline, with the o200k vocabulary that travels with the package.

The file is checked before it is used: a damaged one would only give wrong numbers.
"""

from __future__ import annotations

from unified_state.errors import DamagedFileError
from unified_state.lib.assets import package_path
from unified_state.lib.text.token_count import TokenCounter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

RANKS_PATH = package_path("lib", "text", "o200k_base.ranks")
RANKS_SHA256 = "b69d8bf0b52245ae26bc2a9ebb40ae79f30e6535270a613c2248886ad6f7916e"

_counters: list[TokenCounter] = []  # at most one; functools.cache would cost 2 ms where nothing is counted


def count_tokens(texts: Sequence[str]) -> list[int]:
    """The number of o200k tokens of each text; `DamagedFileError` where the vocabulary is missing or damaged."""
    if not _counters:
        _counters.append(TokenCounter(read_ranks(RANKS_PATH)))
    return _counters[0].count(texts)


def read_ranks(path: str) -> bytes:
    """The vocabulary in our form; `DamagedFileError` where the file is not the one that was released."""
    import hashlib  # only where something is counted

    hint = "install unified-state again"
    try:
        with open(path, "rb") as file:
            ranks = file.read()
    except OSError as error:
        message = f"{path}: the token vocabulary cannot be read: {error.strerror}"
        raise DamagedFileError(message, hint) from error
    if hashlib.sha256(ranks).hexdigest() != RANKS_SHA256:
        message = f"{path}: the token vocabulary is damaged"
        raise DamagedFileError(message, hint)
    return ranks
