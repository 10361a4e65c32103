"""Of a diff: which files and where; small changes with the lines around them, of large ones the changed lines first;
generated files are only named.
"""

from __future__ import annotations

from unified_state.context.lean.rules.kinds.generated import is_generated
from unified_state.context.lean.rules.rank import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call

KIND = "diff"
SCALES = (150, 45, 7)  # by level
_HEADS = ("diff --git ", "diff --cc ", "Index: ")
_LOOKED_AT = 120
_SMALL_HUNK = 1_500  # characters
_AROUND = 3  # lines that git shows around a change


def fits(_call: Call, view: View) -> bool:
    """Whether there are hunks."""
    return any(piece.startswith("@@ ") for piece in view.pieces[:_LOOKED_AT])


def rank(view: View) -> Ranking:
    """Heads of files; what is said of a commit; where each hunk is; small hunks whole, the smallest first; then
    changes, from both ends; the rest likewise.
    """
    heads: set[int] = set()
    told: list[int] = []
    places: list[int] = []
    hunks: list[list[int]] = []
    changes: dict[int, bool] = {}  # and whether a program made them
    hunk: list[int] = []
    is_told, is_made = True, False
    for number, piece in enumerate(view.pieces):
        if piece.startswith(_HEADS):
            is_told, is_made = False, is_generated(piece.strip())
            hunk = []
            heads.add(number)
        elif piece.startswith("@@ "):
            is_told = False
            hunk = [number]
            places.append(number)
            if not is_made:
                hunks.append(hunk)
        elif is_told or piece.startswith("commit "):
            is_told = True
            told.append(number)
        else:
            hunk.append(number)
            if piece[:1] in {"+", "-"} and not piece.startswith(("+++ ", "--- ")):
                changes[number] = is_made
    ends = ends_first(len(view.pieces))
    changed = sorted((number for number in ends if number in changes), key=changes.__getitem__)
    return Ranking(
        heads, told + places + _small(hunks, changes, view) + changed + ends, dict.fromkeys(changes, "changed")
    )


def _small(hunks: list[list[int]], changes: dict[int, bool], view: View) -> list[int]:
    """The units of small hunks, which change what was there before: the changes and a few lines around each. An agent
    takes those up as often as the changes themselves; a large hunk is mostly something new.
    """
    near = {at for number in changes for at in range(number - _AROUND, number + _AROUND + 1)}
    found: list[tuple[int, list[int]]] = []
    for hunk in hunks:
        units = [number for number in hunk if number in near]
        size = sum(len(view.pieces[number]) for number in units)
        if size <= _SMALL_HUNK and view.blocks.isdisjoint(hunk):
            found.append((size, units))
    return [number for _, units in sorted(found) for number in units]
