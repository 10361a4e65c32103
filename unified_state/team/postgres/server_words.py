"""What the server's full-text index sees of a step, and what it is asked for.

The server's parser would take `src/app.py` for one file and `app.py` for a host, so it is given words alone, in lower
case and without accents, cut the way the local index cuts them: `load_settings` is `load` and `settings`, a run of
Chinese, Japanese or Korean is its overlapping pairs. One word more tells the author, so that the index itself keeps
tenants apart.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from unicodedata import combining, normalize

from unified_state.lib.stdlib import parse_json
from unified_state.lib.words.index_text import index_text, strings_of
from unified_state.lib.words.query import is_single_cjk, query_words
from unified_state.model.step import TOOL_CALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.model.history_records import StoredStep

_DATA_URL = "data:"
_SIGNS = re.compile(r"[\W_]+")
_ACCENTED = ((0xC0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x1E00, 0x2000))
_LONGEST_WORD = 500  # characters; the server takes 2,046 bytes
_LONGEST_TEXT = 250_000  # characters of a step that can be found: the server takes a megabyte of words


def searched_text(step: StoredStep) -> str:
    """The words of a step, for the index; nothing of an image."""
    if step.text.startswith(_DATA_URL):
        return ""
    text = step.text
    if step.kind == TOOL_CALL:
        with suppress(ValueError, RecursionError):  # half of a JSON is searched as it is
            text = strings_of(parse_json(text))
        text = f"{step.tool or ''}\n{text}"
    words = " ".join(_words(text[:_LONGEST_TEXT]))
    return words[:_LONGEST_TEXT]


def searched_words(query: str) -> list[tuple[str, bool]]:
    """The words that a query looks for, and whether each is only the beginning of one."""
    found = {word: is_single_cjk(word) for asked in query_words(query) for word in _words(asked)}
    return list(found.items())


def _words(text: str) -> list[str]:
    text = index_text(text)
    if not text.isascii():
        text = text.translate(_bare())
    return [word[:_LONGEST_WORD] for word in _SIGNS.split(text.lower()) if word]


@cache
def _bare() -> dict[int, str]:
    """Letters without their accents."""
    return {
        code: "".join(sign for sign in normalize("NFD", chr(code)) if not combining(sign))
        for first, last in _ACCENTED
        for code in range(first, last)
    }
