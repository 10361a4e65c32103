"""Which lines of an output the agent used later: written again, or referred to by a name that it had from there.

A use counts while the output stood in the context: behind it, and before the next compaction. Two ways to use a line:

* **verbatim**: what the agent wrote later (text, the input of a call) holds the line, without what a tool puts before
  it (`12→`, `a.go:12:`, the sign of a diff): as a whole line from 12 characters on, anywhere from 20 characters on;
* **by name**: what the agent wrote later holds a distinctive name (a path, a hash, an identifier of 6 characters or
  more with a digit, an underscore, a slash, a dot, or a capital inside) that nobody had said before this output. Where
  it stands in several lines, any of them serves.

Of a use two things are asked: whether the short form of this output *cut* it, and whether it was *lost*: no other
output that stood in the context at its first use showed it either.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from benchmarks.lean_sessions import Stretch

VERBATIM, BY_NAME = "verbatim", "by name"
_SHORTEST_LINE, _SHORTEST_QUOTE = 12, 20
_PREFIX = re.compile(r"^\s*(?:[\w./@+-]+?[:-])?\d+(?:[:\-→\t]|\s(?=\s))|^[+\-]")
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./@#-]*[A-Za-z0-9_])?")
_SHORTEST_NAME = 6
_INSIDE = re.compile(r"[0-9_/.]|[a-z][A-Z]")


class Use(NamedTuple):
    """One use of an output: any of `lines` serves it. `last` is how much had been written when it was used last,
    `copies` are the other lines that showed the same before the first use, by output and line.
    """

    way: str
    words: str  # what was used: the bare line, or the name
    lines: tuple[int, ...]
    last: int
    copies: tuple[tuple[int, int], ...]


def uses(stretch: Stretch, *, as_printed: bool = False) -> list[list[Use]]:
    """The uses of each output of a stretch; `as_printed`: only of lines that were written again with what the tool puts
    before them.
    """
    found: list[list[Use]] = [[] for _ in stretch.outputs]
    for number, use in _verbatim(stretch, str.strip) if as_printed else (*_verbatim(stretch, bare), *_by_name(stretch)):
        found[number].append(use)
    return found


def bare(line: str) -> str:
    """A line without what a tool puts before it."""
    return _PREFIX.sub("", line, count=1).strip()


def _verbatim(stretch: Stretch, said_by: Callable[[str], str]) -> Iterator[tuple[int, Use]]:
    whole_lines = _places(stretch.written, lambda line: [line.strip()])
    shown: dict[str, list[tuple[int, int]]] = {}
    for number, output in enumerate(stretch.outputs):
        for at, line in enumerate(output.lines):
            content = said_by(line)
            if len(content) >= _SHORTEST_LINE and any(map(str.isalpha, content)):
                shown.setdefault(content, []).append((number, at))
    for content, holders in shown.items():
        for number, at in holders:
            since = stretch.outputs[number].written_before
            places = whole_lines.get(content, [])
            later = places[bisect_left(places, since) :]
            if len(content) >= _SHORTEST_QUOTE:
                later += [
                    place
                    for place in (stretch.written.find(content, since), stretch.written.rfind(content, since))
                    if place >= 0
                ]
            if later:
                yield number, Use(VERBATIM, content, (at,), max(later), _copies(stretch, holders, min(later)))


def _copies(stretch: Stretch, holders: list[tuple[int, int]], use: int) -> tuple[tuple[int, int], ...]:
    return tuple(holder for holder in holders if stretch.outputs[holder[0]].written_before <= use)


def _places(written: str, contents: Callable[[str], Iterable[str]]) -> dict[str, list[int]]:
    """Where the agent wrote what a line holds, in order."""
    places: dict[str, list[int]] = {}
    at = 0
    for line in written.split("\n"):
        for content in contents(line):
            places.setdefault(content, []).append(at)
        at += len(line) + 1
    return places


def names(text: str) -> set[str]:
    """The distinctive names in a text; of a path its last part too."""
    found = set()
    for match in _NAME.finditer(text):
        for name in {match[0], match[0].rpartition("/")[2]}:
            if len(name) >= _SHORTEST_NAME and _INSIDE.search(name):
                found.add(name)
    return found


def _by_name(stretch: Stretch) -> Iterator[tuple[int, Use]]:
    """Each name that the agent wrote, at the first output that showed it, where nobody had said it before."""
    written = _places(stretch.written, names)
    said: set[str] = set()
    heard = list(stretch.heard)
    shown: dict[str, list[tuple[int, int]]] = {}
    for number, output in enumerate(stretch.outputs):
        while heard and heard[0][0] <= output.written_before:
            said |= names(heard.pop(0)[1])
        for at, line in enumerate(output.lines):
            for name in names(line) - said:
                if written.get(name, [-1])[0] >= output.written_before:
                    shown.setdefault(name, []).append((number, at))
    for name, holders in shown.items():
        first = holders[0][0]
        lines = tuple(at for number, at in holders if number == first)
        yield first, Use(BY_NAME, name, lines, written[name][-1], _copies(stretch, holders, written[name][0]))
