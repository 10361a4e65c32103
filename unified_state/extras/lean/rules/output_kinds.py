"""Search results, diffs, JSON, reports of subagents, and output of no known kind."""

from __future__ import annotations

from unified_state.extras.lean.rules.output_view import View
from unified_state.extras.lean.rules.short_form import Kind, Ranking, ends_first, newest_first
from unified_state.extras.lean.rules.tool_call import Call

_MOST_FILES = 25  # files whose first match is always shown
_SEARCH_PROGRAMS = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "git grep", "zgrep", "ugrep"))
_BETWEEN = ("--\n", "\n")
_LOOKED_AT = 60
_LEAST_RESULTS = 0.6
_LONGEST_PLACE = 300


def _are_results(call: Call, view: View) -> bool:
    """Return whether most lines of an output name a place: `a.go:12: …`, `12: …`."""
    if call.tool != "Grep" and not call.runs(_SEARCH_PROGRAMS):
        return False
    lines = [piece for piece in view.pieces[:_LOOKED_AT] if piece not in _BETWEEN]
    results = [place(line) is not None for line in lines]
    begun = sum(
        is_result and not results[at] for at, is_result in enumerate(results[1:])
    )  # below a heading with the file's name
    return sum(results) + begun >= _LEAST_RESULTS * len(lines)


def _rank_results(view: View) -> Ranking:
    """Rank the first match of each file. Then rank lines with new names."""
    places, headings = _places(view.pieces)
    matches = [number for number, found in enumerate(places) if found and found[1]]
    firsts: dict[str, int] = {}
    for number in matches:
        firsts.setdefault((places[number] or ("",))[0], number)
    others = [number for number, found in enumerate(places) if found]
    order = [*firsts.values(), *newest_first(view.pieces, others)]
    must = set(list(firsts.values())[:_MOST_FILES])
    named = {headings[file] for file, number in firsts.items() if number in must and file in headings}
    return Ranking(must | named, order, dict.fromkeys(matches, "matching"))


def _places(pieces: list[str]) -> tuple[list[tuple[str, bool] | None], dict[str, int]]:
    """Return the place that each line names, and the lines of file names that are headings above their matches."""
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
    """Return the file in a line of results ("" if it has only a line number) and whether the line is a match, or
    None.
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


_HEADS = ("diff --git ", "diff --cc ", "Index: ")
_LOOKED_AT_FOR_HUNKS = 120
_SMALL_HUNK = 1_500  # characters
_AROUND = 3  # lines of context that git shows around a change


def _is_diff(_call: Call, view: View) -> bool:
    """Return whether the output contains hunks."""
    return any(piece.startswith("@@ ") for piece in view.pieces[:_LOOKED_AT_FOR_HUNKS])


def _rank_diff(view: View) -> Ranking:
    """Rank the parts of a diff.

    The order is: file headers, commit messages, places of hunks, small hunks (the smallest first), changes from both
    ends, the rest.
    """
    heads: set[int] = set()
    told: list[int] = []
    places: list[int] = []
    hunks: list[list[int]] = []
    changes: set[int] = set()
    hunk: list[int] = []
    is_told = True
    for number, piece in enumerate(view.pieces):
        if piece.startswith(_HEADS):
            is_told = False
            hunk = []
            heads.add(number)
        elif piece.startswith("@@ "):
            is_told = False
            hunk = [number]
            places.append(number)
            hunks.append(hunk)
        elif is_told or piece.startswith("commit "):
            is_told = True
            told.append(number)
        else:
            hunk.append(number)
            if piece[:1] in {"+", "-"} and not piece.startswith(("+++ ", "--- ")):
                changes.add(number)
    ends = ends_first(len(view.pieces))
    changed = [number for number in ends if number in changes]
    return Ranking(
        heads, told + places + _small(hunks, changes, view) + changed + ends, dict.fromkeys(changes, "changed")
    )


def _small(hunks: list[list[int]], changes: set[int], view: View) -> list[int]:
    """Return the units of small hunks that change existing text: the changes and a few lines around each.

    Agents use those lines as often as the changes themselves. A large hunk is mostly new text.
    """
    near = {at for number in changes for at in range(number - _AROUND, number + _AROUND + 1)}
    found: list[tuple[int, list[int]]] = []
    for hunk in hunks:
        units = [number for number in hunk if number in near]
        size = sum(len(view.pieces[number]) for number in units)
        if size <= _SMALL_HUNK and view.blocks.isdisjoint(hunk):
            found.append((size, units))
    return [number for _, units in sorted(found) for number in units]


SEARCH_RESULTS = Kind("search results", (40, 12, 4), _are_results, _rank_results)
DIFF = Kind("diff", (150, 45, 7), _is_diff, _rank_diff)

_LOOKED_AT_JSON, _BEGINNING_PIECES = 40, 5
_LEAST_JSON = 0.6
_NOISE = ('url"', "_url", "node_id", "avatar", "gravatar", '_links"', '"href"', '"sha"', "reactions")


def _is_json(_call: Call, view: View) -> bool:
    """Return whether an output begins as JSON and continues as JSON."""
    start = "".join(view.pieces[:_BEGINNING_PIECES]).lstrip()[:2]
    if not start.startswith(("{", "[")) or start[1:2] not in {'"', "{", "[", "\n", "\r", " ", "\u007d", "]"}:
        return False
    lines = view.pieces[:_LOOKED_AT_JSON]
    return sum(
        '"' in line or line.strip() in {"{", "}", "[", "]", "},", "],", "[]"} for line in lines
    ) >= _LEAST_JSON * len(lines)


def _rank_json(view: View) -> Ranking:
    """Rank the beginning first, then units with new names. Addresses and similar values are last."""
    pieces = view.pieces
    order = newest_first(pieces, range(len(pieces)))
    order.sort(key=lambda number: any(word in pieces[number] for word in _NOISE))
    return Ranking({0}, order)


_TOOLS = frozenset(("Task", "Agent"))
_AGENTS_OUTPUT = "<task_type>local_agent</task_type>"  # marks a subagent in the answer of TaskOutput
_BEGINNING = 500
_TOOL_CALL = "[Tool: "


def _is_report(call: Call, view: View) -> bool:
    """Return whether the output is a subagent's report, complete or so far."""
    return call.tool in _TOOLS or (call.tool == "TaskOutput" and _AGENTS_OUTPUT in view.text[:_BEGINNING])


def _rank_report(view: View) -> Ranking:
    """Rank the lines of the report from both ends. Its tool calls are labelled."""
    pieces = view.pieces
    calls = {number: "of tool calls" for number, piece in enumerate(pieces) if piece.startswith(_TOOL_CALL)}
    return Ranking(set(), [number for number in ends_first(len(pieces)) if number not in calls], calls)


def _rank_other(view: View) -> Ranking:
    """Rank both ends inwards, the head first: lists such as `git log` or a search begin with the newest or the best."""
    return Ranking(set(), ends_first(len(view.pieces), head=3))


def _is_anything(_call: Call, _view: View) -> bool:
    return True


JSON = Kind("JSON", (80, 40, 40), _is_json, _rank_json)
REPORT = Kind("report", (10_000, 90, 38), _is_report, _rank_report)
OTHER = Kind("output", (70, 35, 10), _is_anything, _rank_other)
