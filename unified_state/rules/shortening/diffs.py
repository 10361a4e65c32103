"""Of a diff: which files and where, and the lines that were changed before those around them; generated files are only
named.
"""

from __future__ import annotations

from unified_state.rules.shortening.generated import is_generated
from unified_state.rules.shortening.novelty import newest_first
from unified_state.rules.shortening.ranking import Ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.rules.shortening.call import Call
    from unified_state.rules.shortening.view import View

KIND = "diff"
SCALE = 0.8
_HEADS = ("diff --git ", "diff --cc ", "Index: ")
_LOOKED_AT = 120


def fits(_call: Call, view: View) -> bool:
    """Whether there are hunks."""
    return any(piece.startswith("@@ ") for piece in view.pieces[:_LOOKED_AT])


def rank(view: View) -> Ranking:
    """Heads of files and hunks; changes that bring new names, file by file in turns; other changes; the rest."""
    heads, hunks, changes, others = [], [], [], []
    file, turn = "", 0
    is_skipped = False
    for number, piece in enumerate(view.pieces):
        if piece.startswith(_HEADS):
            file, turn = piece, 0
            is_skipped = is_generated(piece.strip())
            heads.append(number)
        elif piece.startswith("@@ "):
            hunks.append(number)
        elif piece[:1] in "+-" and not piece.startswith(("+++ ", "--- ")) and piece[1:].strip():
            turn += 1
            changes.append((is_skipped, turn, number))
        else:
            others.append(number)
    order = newest_first(view.pieces, [number for _, _, number in sorted(changes)])
    return Ranking(set(heads), hunks + order + others, {number: "changed" for *_, number in changes})
