"""Of a diff: which files and where, and the lines that were changed before those around them; generated files are only
named.
"""

from __future__ import annotations

from unified_state.rules.shortening.generated import is_generated
from unified_state.rules.shortening.ranking import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.rules.shortening.call import Call
    from unified_state.rules.shortening.view import View

KIND = "diff"
SCALES = (60, 32, 10)  # by level
_HEADS = ("diff --git ", "diff --cc ", "Index: ")
_LOOKED_AT = 120


def fits(_call: Call, view: View) -> bool:
    """Whether there are hunks."""
    return any(piece.startswith("@@ ") for piece in view.pieces[:_LOOKED_AT])


def rank(view: View) -> Ranking:
    """Heads of files and hunks, what is said of a commit; changes, file by file in turns; the rest from both ends."""
    pieces = view.pieces
    heads: set[int] = set()
    told: list[int] = []
    hunks: list[int] = []
    changes: list[tuple[bool, int, int]] = []
    turn, is_told, is_skipped = 0, True, False
    for number, piece in enumerate(pieces):
        if piece.startswith(_HEADS):
            turn, is_told, is_skipped = 0, False, is_generated(piece.strip())
            heads.add(number)
        elif piece.startswith("@@ "):
            is_told = False
            hunks.append(number)
        elif is_told or piece.startswith("commit "):
            is_told = True
            told.append(number)
        elif piece[:1] in "+-" and not piece.startswith(("+++ ", "--- ")) and piece[1:].strip():
            turn += 1
            changes.append((is_skipped, turn, number))
    order = [number for _, _, number in sorted(changes)]
    return Ranking(heads, told + hunks + order + ends_first(len(pieces)), {number: "changed" for *_, number in changes})
