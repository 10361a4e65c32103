r"""Terminal control sequences in a text, such as colors, and the text without them.

They are found as bytes (ESC, or the single character U+009B) and in the notations of source code and JSON (`\033[32m`,
`\x1b[32m`, `\e[32m`, `\u001b[32m`). Texts are bytes, one per character.
"""

from __future__ import annotations

import re
from bisect import bisect_right

# The grammar of ECMA-48.
SEQUENCE = re.compile(
    rb"(?:(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[|\x9b)[0-?]{0,62}[ -/]{0,62}[@-~]|\x1b[ -/]{0,62}[0-~]"
)


class VisibleText:
    """A text without its sequences, and a map from its positions to those in the whole text. `blanked` is the text with
    a blank for each character of a sequence.
    """

    def __init__(self, data: bytes) -> None:
        found = [match.span() for match in SEQUENCE.finditer(data)]
        starts = [0, *(end for _, end in found)]  # of each part that is shown, in the whole text
        parts = [data[start:end] for start, end in zip(starts, [*(start for start, _ in found), None], strict=True)]
        self.text = b"".join(parts)
        self.blanked = SEQUENCE.sub(lambda match: b" " * len(match[0]), data)
        self._starts, self._places = starts, [0]
        for part in parts[:-1]:
            self._places.append(self._places[-1] + len(part))

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return start and end in the whole text of a part of the visible text."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, at: int) -> int:
        part = bisect_right(self._places, at) - 1
        return self._starts[part] + at - self._places[part]
