"""Find the archived turns that are relevant to the first prompt after a compaction.

A turn is relevant if it contains most of the rare words of the prompt. A prompt such as "go on" gets no turns.
"""

from __future__ import annotations

from unified_state.lib.query import MARK, words_of
from unified_state.lib.text import cut, is_cjk, utf16_units
from unified_state.lib.times import age_text, to_milliseconds
from unified_state.memory.archive.full_text import Filters, telling_words
from unified_state.memory.archive.steps import turn_of_step
from unified_state.memory.ledger.rules.item_lines import harmless
from unified_state.model.refs import STEP, parse_ref
from unified_state.model.step import NOTICE, PROMPT
from unified_state.search.search_archive import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.step import Hit

_MOST_UNITS = 1_850  # 2,000 with the fence
_HEAD = "[RELEVANT] archived turns that this prompt may be about; `unified-state show REF` prints one whole"
_HITS, _TURNS = 16, 6
_CANDIDATES = 60  # few, because the user waits
_LEAST_WORDS, _LEAST_SHOWN = 2, 1 / 3  # fewest words, and the part of them that must be close together
_LEAST_COVERAGE, _LEAST_CJK_COVERAGE = 0.6, 1 / 3  # in CJK text half of the pairs cross a word boundary
_CHARACTERS = 300


def relevant_turns(archive: Archive, prompt: str, now: int, *, before: int | None = None, told: str = "") -> str:
    """Return short forms of the relevant turns, within 2,000 UTF-16 units with the fence, or "".

    Only steps `before` a time count, and only refs that are not in the text `told`.
    """
    words = telling_words(archive, prompt)
    if sum(map(_weight, words)) < _LEAST_WORDS:
        return ""
    said, known = set(words_of(prompt)), {word.strip("`'\"()[]{},.;:") for word in told.split()}
    lines: dict[str, str] = {}
    hits = search(archive, prompt, _HITS, now=now, filters=Filters(until=before), words=words, candidates=_CANDIDATES)
    for hit in hits:
        kind, number = parse_ref(hit.ref)
        if kind != STEP or not _is_about(hit, words) or not _says_more(hit, said):
            continue
        turn = f"T{turn_of_step(archive, number)}"
        if known.isdisjoint({turn, hit.ref}) and len(lines) < _TURNS:
            lines.setdefault(turn, f"{turn} {_line(hit, now)}")
    return _within_units(lines.values())


def _weight(word: str) -> float:
    """Return the weight of a word. CJK text has about two pairs of characters for each word, and a single last
    character.
    """
    if not is_cjk(word[0]):
        return 1.0
    return 0.5 if len(word) > 1 else 0.0


def _is_about(hit: Hit, words: list[str]) -> bool:
    """Return whether a step and its neighbours contain most of the words, several of them close together."""
    shown = len(set(words_of(" ".join(hit.snippet.split(MARK)[1::2]))))
    least = _LEAST_CJK_COVERAGE if any(is_cjk(word[0]) for word in words) else _LEAST_COVERAGE
    return hit.coverage >= least and shown >= max(_LEAST_WORDS, _LEAST_SHOWN * len(words))


def _says_more(hit: Hit, said: set[str]) -> bool:
    """Return whether a step contains more than the prompt. An earlier prompt with the same words is no answer, nor is
    an echo.
    """
    return hit.kind != NOTICE and (hit.kind != PROMPT or not said.issuperset(words_of(hit.snippet)))


def _line(hit: Hit, now: int) -> str:
    said = harmless(hit.snippet.replace(MARK, ""))
    age = age_text(now, to_milliseconds(hit.timestamp))
    return f"{hit.ref} ({age}) {hit.kind}: {cut(said, _CHARACTERS)}"


def _within_units(lines: Iterable[str]) -> str:
    text = _HEAD
    for line in lines:
        if utf16_units(f"{text}\n{line}") <= _MOST_UNITS:
            text += f"\n{line}"
    return text if text != _HEAD else ""
