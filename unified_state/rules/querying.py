"""From a query in anybody's words to what the full-text index understands, and from a text to the part that matters."""

from __future__ import annotations

from unified_state.rules.cutting import cut
from unified_state.rules.indexing import index_text, is_cjk

_MOST_WORDS = 64
_MARK_BEGIN, _MARK_END = "**", "**"
# The commonest English words carry nothing; a query of nothing else keeps them.
_STOP_WORDS = """
a about after all also am an and any are as at be because been before being but by can could did do
does doing for from had has have having he her here hers him his how i if in into is it its itself
just me more most my no nor not now of off on once only or other our out over own same she should so
some such than that the their them then there these they this those through to too under until up
very was we were what when where which while who why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def query_words(query: str) -> list[str]:
    """The words of a query as the index has them, each once, without stop words; at most 64."""
    text = "".join(character if character.isalnum() else " " for character in index_text(query))
    words = list(dict.fromkeys(text.lower().split()))
    telling = [word for word in words if word not in STOP_WORDS]
    return (telling or words)[:_MOST_WORDS]


def fts_query(words: list[str]) -> str:
    """An FTS5 expression that matches any of the words. Quoted, so that no word is ever an operator. A single CJK
    character is what a pair in the index begins with.
    """
    return " OR ".join(f'"{word}"*' if len(word) == 1 and is_cjk(word) else f'"{word}"' for word in words)


def snippet(text: str, words: list[str], limit: int) -> str:
    """The part of a text round the first words that match, with the matches marked."""
    folded = text.lower()
    found = [position for word in words if (position := folded.find(word)) >= 0]
    begin = max(0, min(found, default=0) - limit // 4)
    if begin:
        begin = text.find(" ", begin) + 1 or begin
    part = ("…" if begin else "") + cut(text[begin:], limit)
    return _marked(part, words)


def _marked(text: str, words: list[str]) -> str:
    folded = text.lower()
    if len(folded) != len(text):  # a character that is longer in lower case would shift all marks
        return text
    spans = []
    for word in words:
        position = folded.find(word)
        while position >= 0:
            spans.append((position, position + len(word)))
            position = folded.find(word, position + len(word))
    pieces, last = [], 0
    for begin, end in sorted(spans):
        if begin >= last:
            pieces += [text[last:begin], _MARK_BEGIN, text[begin:end], _MARK_END]
            last = end
    return "".join([*pieces, text[last:]])
