"""Of search results: the matches before the lines around them, and of each file the first before the second of any."""

from __future__ import annotations

from unified_state.rules.shortening.generated import is_generated
from unified_state.rules.shortening.novelty import newest_first
from unified_state.rules.shortening.ranking import Ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.rules.shortening.call import Call
    from unified_state.rules.shortening.view import View

KIND = "search results"
SCALES = (40, 15, 7)  # by level
_PROGRAMS = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "git grep", "zgrep", "ugrep"))
_LOOKED_AT = 60
_LEAST_SHARE = 0.6
_LONGEST_PLACE = 300
_DISTANCES = 3  # how far from a match its surroundings are told apart


def fits(call: Call, view: View) -> bool:
    """Whether most lines of an output name a place: `a.go:12: …`, `12: …`."""
    if call.tool != "Grep" and not call.runs(_PROGRAMS):
        return False
    lines = [piece for piece in view.pieces[:_LOOKED_AT] if piece != "--\n"]
    return sum(place(line) is not None for line in lines) >= _LEAST_SHARE * len(lines)


def rank(view: View) -> Ranking:
    """Matches, the first of each file first, those that bring new names first; then what stands near them."""
    places = [place(piece) for piece in view.pieces]
    matches = [number for number, found in enumerate(places) if found and found[1]]
    by_file: dict[str, list[int]] = {}
    for number in matches:
        by_file.setdefault(places[number][0], []).append(number)  # type: ignore[index]  # matches have a place
    turns = sorted(
        (is_generated(file), turn, number) for file, numbers in by_file.items() for turn, number in enumerate(numbers)
    )
    order = newest_first(view.pieces, [number for _, _, number in turns])
    shown = set(order)
    for distance in range(1, _DISTANCES + 1):
        near = [number + step for number in order[: len(matches)] for step in (distance, -distance)]
        order += [at for at in dict.fromkeys(near) if 0 <= at < len(places) and places[at] and at not in shown]
        shown.update(order)
    order += [number for number, found in enumerate(places) if found and number not in shown]
    labels = dict.fromkeys(matches, "matching")
    return Ranking(set(), order, labels)


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
