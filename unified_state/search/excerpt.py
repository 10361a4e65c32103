"""A part of what a ref names: some lines of a step, or those in which a pattern is found."""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.lib.record import Record
from unified_state.lib.text.line_excerpts import MOST_MATCHES, lines_of, parse_range, shown_matches
from unified_state.lib.text.timed_regex import matches_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXTS = ("result", "text")


class Part(Record):
    """Which part: a range of lines, a regular expression, or the lines of a range that it is found in."""

    lines: str | None = None
    grep: str | None = None


def part_of(found: dict[str, Any], part: Part) -> dict[str, Any]:
    """The same with only a part of its text, and `part`, which says which it is. Raises UsageError."""
    name = next((name for name in _TEXTS if isinstance(found.get(name), str)), None)
    if name is None:
        message = f"{found['ref']} has no lines"
        raise UsageError(message, "parts can be had of steps: S1234")
    lines = lines_of(found[name])
    first, last = parse_range(part.lines, len(lines)) if part.lines else (1, len(lines))
    told: dict[str, Any] = {"lines": len(lines), "first": first, "last": last}
    if part.grep is None:
        return {**found, name: "\n".join(lines[first - 1 : last]), "part": told}
    matches = matches_in(lines[first - 1 : last], part.grep)
    numbered = [match.replace(line=match.line + first - 1) for match in matches[:MOST_MATCHES]]
    told |= {"grep": part.grep, "matches": len(matches), "shown": len(numbered)}
    return {**found, name: shown_matches(lines, numbered), "part": told}
