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
SCALES = (150, 106, 7)  # by level
_HEADS = ("diff --git ", "diff --cc ", "Index: ")
_LOOKED_AT = 120


def fits(_call: Call, view: View) -> bool:
    """Whether there are hunks."""
    return any(piece.startswith("@@ ") for piece in view.pieces[:_LOOKED_AT])


def rank(view: View) -> Ranking:
    """Heads of files; what is said of a commit; where each hunk is; changes, from both ends; the rest likewise."""
    pieces = view.pieces
    heads: set[int] = set()
    told: list[int] = []
    hunks: list[int] = []
    changes: dict[int, bool] = {}  # and whether a program made them
    is_told, is_made = True, False
    for number, piece in enumerate(pieces):
        if piece.startswith(_HEADS):
            is_told, is_made = False, is_generated(piece.strip())
            heads.add(number)
        elif piece.startswith("@@ "):
            is_told = False
            hunks.append(number)
        elif is_told or piece.startswith("commit "):
            is_told = True
            told.append(number)
        elif piece[:1] in {"+", "-"} and not piece.startswith(("+++ ", "--- ")):
            changes[number] = is_made
    ends = ends_first(len(pieces))
    changed = sorted((number for number in ends if number in changes), key=changes.__getitem__)
    return Ranking(heads, told + hunks + changed + ends, dict.fromkeys(changes, "changed"))
