"""Of a listing of files: the first names, and of each folder the first, so that every folder is seen."""

from __future__ import annotations

from unified_state.context.lean.rules.rank import Ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call

KIND = "listing"
SCALES = (150, 80, 40)  # by level
_PROGRAMS = frozenset(("ls", "find", "fd", "tree", "git ls-files", "du", "locate"))
_LOOKED_AT = 60
_LEAST_SHARE = 0.8
_LONGEST_NAME = 240


def fits(call: Call, view: View) -> bool:
    """Whether an output lists files: by its tool or command, or as most lines are one path."""
    lines = view.pieces[:_LOOKED_AT]
    if call.tool in {"Glob", "LS"} or (call.runs(_PROGRAMS) and call.only_prints):
        return True
    return sum(map(_is_path, lines)) >= _LEAST_SHARE * len(lines)


def rank(view: View) -> Ranking:
    """The first names, then the first of each folder, then the others."""
    folders: set[str] = set()
    firsts: list[int] = []
    for number, piece in enumerate(view.pieces):
        folder = piece.strip().rpartition("/")[0]
        if folder not in folders:
            firsts.append(number)
            folders.add(folder)
    return Ranking(set(), list(dict.fromkeys([*range(min(3, len(view.pieces))), *firsts, *range(len(view.pieces))])))


def _is_path(line: str) -> bool:
    name = line.strip()
    return (
        bool(name)
        and len(name) <= _LONGEST_NAME
        and " " not in name
        and ("/" in name or "." in name)
        and ":" not in name
    )
