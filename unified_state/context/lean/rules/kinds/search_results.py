"""Of search results: of each file the first match, whatever it costs, of very many files not of all; then what says
something new, matches and the lines around them.
"""

from __future__ import annotations

from unified_state.context.lean.rules.kinds.generated import is_generated
from unified_state.context.lean.rules.rank import Ranking, newest_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call

KIND = "search results"
SCALES = (40, 12, 4)  # by level
_MOST_FILES = 25  # whose first matches are never cut
_PROGRAMS = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "git grep", "zgrep", "ugrep"))
_BETWEEN = ("--\n", "\n")
_LOOKED_AT = 60
_LEAST_SHARE = 0.6
_LONGEST_PLACE = 300


def fits(call: Call, view: View) -> bool:
    """Whether most lines of an output name a place: `a.go:12: …`, `12: …`."""
    if call.tool != "Grep" and not call.runs(_PROGRAMS):
        return False
    lines = [piece for piece in view.pieces[:_LOOKED_AT] if piece not in _BETWEEN]
    results = [place(line) is not None for line in lines]
    begun = sum(is_result and not results[at] for at, is_result in enumerate(results[1:]))  # below the name of a file
    return sum(results) + begun >= _LEAST_SHARE * len(lines)


def rank(view: View) -> Ranking:
    """The first match of each file, those of generated files only where there is room; then the lines, matches or not,
    that bring new names.
    """
    places, headings = _places(view.pieces)
    matches = [number for number, found in enumerate(places) if found and found[1]]
    firsts: dict[str, int] = {}
    for number in matches:
        firsts.setdefault((places[number] or ("",))[0], number)
    by_person = [number for file, number in firsts.items() if not is_generated(file)]
    made = [number for file, number in firsts.items() if is_generated(file)]
    others = [number for number, found in enumerate(places) if found and not is_generated(found[0])]
    order = by_person + made + newest_first(view.pieces, others)
    must = set(by_person[:_MOST_FILES])
    named = {headings[file] for file, number in firsts.items() if number in must and file in headings}
    return Ranking(must | named, order, dict.fromkeys(matches, "matching"))


def _places(pieces: list[str]) -> tuple[list[tuple[str, bool] | None], dict[str, int]]:
    """The place that each line names, and where the files stand that are named once, above their matches."""
    found: list[tuple[str, bool] | None] = []
    headings: dict[str, int] = {}
    heading, before = "", ""
    for number, piece in enumerate(pieces):
        at = place(piece)
        line = piece.strip()
        if at is None and line and not before:
            heading = line
            headings.setdefault(line, number)
        found.append((heading, at[1]) if at and not at[0] else at)
        before = line
    return found, headings


def place(line: str) -> tuple[str, bool] | None:
    """The file that a line of results names, empty where it gives the line number alone, and whether it is a match;
    None where it is no such line.
    """
    head = line[:_LONGEST_PLACE]
    for sign, is_match in ((":", True), ("-", False)):
        number = head.partition(sign)[0]
        if number.isdigit():
            return "", is_match
        start = head.find(sign)
        while start >= 0:
            end = head.find(sign, start + 1)
            if end > start + 1 and head[start + 1 : end].isdigit():
                return head[:start], is_match
            start = end
    file = head.partition(":")[0]
    return (file, True) if "/" in file and " " not in file and len(file) < len(head) else None
