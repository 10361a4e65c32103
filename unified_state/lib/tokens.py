"""The number of o200k tokens of a text: a cheap, proved upper bound, and the exact count, offline.

Byte pair encoding repeatedly joins, within one piece of the text, the neighboring tokens whose union has the lowest
rank, until no union is a token. This module rests on two consequences. First, where all pairs of some characters are
tokens, no two neighbors can both remain single characters, which gives the upper bound. Second, only tokens that occur
in the text can be looked up. So an encoding built from them alone gives the same count as the full one, and is ready in
a tenth of the time. The tests check these claims against every token of the vocabulary.

The ranks are one byte string: the 256 single bytes by rank; for each byte value the length of the longest token that
starts with it; then all longer tokens by rank, with `SEPARATOR` between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from unified_state.errors import DamagedFileError
from unified_state.lib.package import package_path
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.text import only_bytes, well_formed

if TYPE_CHECKING:
    from tiktoken import Encoding

SEPARATOR = b"\xff"  # no UTF-8 text has this byte, so only its own token contains it
PATTERN = (  # the pattern by which o200k splits a text into pieces, as in tiktoken
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CUTS = (  # positions that no token spans
    rb"(?<=[A-Za-z])(?=[^A-Za-z'\x80-\xff])|"  # after a letter, before ASCII that cannot continue a word
    rb"(?<=[a-z])(?=[A-Z])|"  # between lower and upper case
    rb"(?<=[!-~])(?=[ \t])|"  # before a blank that follows something visible
    rb"(?<=[0-9])(?=[^0-9])|(?<=[^0-9])(?=[0-9])"  # at either end of a number
)
PAIRED_LETTERS = b"abcdefghilmnoprstuvwy"  # every two of them are a token, and each with a space before it
PAIRED_MARKS = b'":,'  # every two of them are a token
_BEYOND_ASCII = bytes(range(128, 256))
_MARKED_SPACE = b" \xff"  # separates the words and represents the space


_NUMBERS_ONLY = only_bytes(b"0123456789" + _BEYOND_ASCII)
_MARKS_ONLY = only_bytes(PAIRED_MARKS)
_WORDS_ONLY = only_bytes(PAIRED_LETTERS + b"\xff")

_LENGTHS_AT, _TOKENS_AT = 256, 512  # offsets in the ranks
# The cost of building the full encoding, and of one pass over all ranks, in substring lookups.
_WHOLE_COST, _PASS_COST = 1_000_000, 100_000
_BLOCK = 1 << 16  # bytes of ranks that are split at once: small blocks stay in the processor's cache
_LONGEST_BLANK = 900_000  # characters; tiktoken panics at a million


def upper_bound(text: str) -> int:
    """Return an upper bound of the number of tokens: about 0.7 of the UTF-8 bytes in JSON and prose, never more than
    they.

    A run of n characters that stays in one piece and whose pairs are all tokens has no two neighboring single
    characters. The worst case is single, pair, single, pair: (2n + 1) // 3 tokens, which saves (n + 1) // 3 of its
    bytes. Such runs are lower-case letters with the space before them, and the quotes, colons and commas of JSON. A
    contraction as in `don't` may split a run of letters once. A token over two runs contains the whole of one that is a
    single character, and counts as that one. Digits are split by threes, and every three are a token. Beside non-ASCII
    characters they save nothing, since those could be digits too and shift the splits.
    """
    data = text.encode("utf-8", "surrogatepass")
    words = data.replace(b" ", _MARKED_SPACE).translate(_WORDS_ONLY).split()
    marks = data.translate(_MARKS_ONLY).split()
    numbers = data.translate(_NUMBERS_ONLY).split()
    saved = sum([(len(run) + 1) // 3 for run in words]) + sum([(len(run) + 1) // 3 for run in marks])
    saved += sum([2 * len(run) // 3 for run in numbers if run.isdigit()])
    return len(data) - max(saved - data.count(b"'"), 0)


class TokenCounter:
    """Exact counts, equal to tiktoken's `encode_ordinary`: special tokens are ordinary text.

    Each count builds an encoding of the tokens in its texts. Once the total cost reaches that of the full vocabulary,
    the full encoding is built and reused.
    """

    def __init__(self, ranks: bytes) -> None:
        self._ranks = ranks
        self._spent = 0
        self._whole: Encoding | None = None

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text. Lone surrogates count as the replacement character."""
        encodable = [well_formed(text) for text in texts]
        encode = self._encoding_for(encodable).encode_ordinary
        return [sum([len(encode(part)) for part in _parts(text)]) for text in encodable]

    def _encoding_for(self, texts: Sequence[str]) -> Encoding:
        if self._whole is None:
            self._spent += _PASS_COST + sum(map(len, texts))
            chunks = _chunks(texts) if self._spent < _WHOLE_COST else set()
            self._spent += sum([len(chunk) * min(len(chunk), 32) for chunk in chunks])
            if self._spent < _WHOLE_COST:
                return _encoding(_tokens_within(chunks, self._ranks))
            self._whole = _encoding(all_tokens(self._ranks))
        return self._whole


def all_tokens(ranks: bytes) -> list[bytes]:
    """Return every token, by rank."""
    return [*_single_bytes(ranks), *ranks[_TOKENS_AT:].split(SEPARATOR)]


def _single_bytes(ranks: bytes) -> list[bytes]:
    return [ranks[rank : rank + 1] for rank in range(_LENGTHS_AT)]


def _encoding(tokens: Iterable[bytes]) -> Encoding:
    """Return the encoding of these tokens, with new numbers: only the order of ranks decides which tokens are
    joined.
    """
    from tiktoken import Encoding  # costs more to import than a bare interpreter to start

    ranks = {token: rank for rank, token in enumerate(tokens)}
    return Encoding("o200k", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def _chunks(texts: Iterable[str]) -> set[bytes]:
    """Return the texts in chunks that no token spans."""
    import re  # the bounds do without, and tiktoken loads it anyway

    cut = re.compile(CUTS)
    return {chunk for text in texts for chunk in cut.split(text.encode())}


def _tokens_within(chunks: Iterable[bytes], ranks: bytes) -> list[bytes]:
    """Return the tokens that occur in the chunks, and all single bytes, by rank."""
    longest = ranks[_LENGTHS_AT:_TOKENS_AT]
    parts: set[bytes] = set()
    for chunk in chunks:
        for start in range(len(chunk) - 1):
            stop = min(start + longest[chunk[start]], len(chunk))
            parts.update([chunk[start:end] for end in range(start + 2, stop + 1)])
    tokens = _single_bytes(ranks)
    start = _TOKENS_AT
    while start < len(ranks):
        end = ranks.find(SEPARATOR, start + _BLOCK)
        block = ranks[start : end if end > 0 else len(ranks)]
        tokens.extend(filter(parts.__contains__, block.split(SEPARATOR)))
        start += len(block) + 1
    return tokens


def _parts(text: str) -> Iterator[str]:
    """Yield the text, split within runs of white space so long that tiktoken would panic."""
    start = 0
    if len(text) > _LONGEST_BLANK:
        import re  # as above

        for blank in re.finditer(r"\s+", text):
            for end in range(blank.start() + _LONGEST_BLANK, blank.end(), _LONGEST_BLANK):
                yield text[start:end]
                start = end
    yield text[start:]


RANKS_PATH = package_path("lib", "o200k_base.ranks")
RANKS_SHA256 = "b69d8bf0b52245ae26bc2a9ebb40ae79f30e6535270a613c2248886ad6f7916e"


@lru_cache(1)
def _counter() -> TokenCounter:
    return TokenCounter(read_ranks(RANKS_PATH))


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Return the number of o200k tokens of each text. Raises DamagedFileError if the vocabulary is missing or
    damaged.
    """
    return _counter().count(texts)


def read_ranks(path: str) -> bytes:
    """Return the vocabulary in the format above. Raises DamagedFileError if the file is not the released one."""
    import hashlib  # only where something is counted

    hint = "install unified-state again"
    try:
        ranks = read_regular(path, LARGE_FILE)
    except OSError as error:
        message = f"{path}: the token vocabulary cannot be read: {error.strerror}"
        raise DamagedFileError(message, hint) from error
    if hashlib.sha256(ranks).hexdigest() != RANKS_SHA256:
        message = f"{path}: the token vocabulary is damaged"
        raise DamagedFileError(message, hint)
    return ranks
