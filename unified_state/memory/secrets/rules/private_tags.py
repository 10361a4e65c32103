"""`<private>…</private>` in a prompt is the user's: it is never stored."""

from __future__ import annotations

_OPEN, _CLOSE = "<private>", "</private>"
_TO_LOWER = {
    upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)
}  # unlike lower(), it never changes the length
HIDDEN = "[private: not kept]"


def hide_private(text: str) -> str:
    """The prompt without what stands between the tags; a tag that is never closed hides all that follows."""
    folded = text.translate(_TO_LOWER)
    kept = []
    position = 0
    while (begin := folded.find(_OPEN, position)) >= 0:
        kept += [text[position:begin], HIDDEN]
        end = folded.find(_CLOSE, begin)
        position = len(text) if end < 0 else end + len(_CLOSE)
    return "".join([*kept, text[position:]]) if kept else text
