"""Whether two statements say the same: in the same words, but for fillers and how they say no.

Precision is preferred to recall, and nothing is merged.
"""

from __future__ import annotations

_FILLERS = {
    "a", "an", "the", "we", "i", "you", "they", "it", "its", "this", "that", "these", "those", "there", "our",
    "your", "is", "are", "be", "been", "was", "were", "will", "would", "should", "shall", "must", "can", "could",
    "may", "might", "do", "does", "did", "has", "have", "had", "of", "to", "for", "in", "on", "at", "by", "as",
    "with", "and", "or", "also", "all", "any", "each", "every", "always", "please", "just", "let", "lets", "let's",
    "use", "uses", "using", "used", "go", "going", "choose", "chosen", "pick", "adopt", "prefer", "from", "into",
    "so", "then", "than",
}  # fmt: skip
_NEGATIONS = {
    "not", "no", "never", "don't", "dont", "doesn't", "won't", "cannot", "can't", "mustn't", "shouldn't", "isn't",
    "aren't", "avoid",
}  # fmt: skip


def repeats(one: str, other: str) -> bool:
    """Return whether a statement says the same as another."""
    words = telling_words(one)
    return folded(one) == folded(other) or (words != () and words == telling_words(other))


def folded(text: str) -> str:
    """Return a text in small letters, without what does not count between its words and at its end."""
    return " ".join(text.casefold().split()).rstrip(".。!?;")


def telling_words(text: str) -> tuple[str, ...]:
    """Return the words of a statement without fillers, in order; each negation is `not`."""
    spaced = "".join(
        character if character.isalnum() or character in "_./-+#'%=" else " "
        for character in text.lower().replace("\u2019", "'")
    )
    words = filter(None, (word.strip("./-+'#") for word in spaced.split()))
    return tuple("not" if word in _NEGATIONS else word for word in words if word not in _FILLERS)
