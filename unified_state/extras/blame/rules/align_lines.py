"""The lines that two versions of a text have in common: a patience diff.

Lines that are unique in both versions are paired first, as far as they are in the same order, and what lies between
them is compared in the same way (B. Cohen, "Patience Diff Advantages", 2010).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

Pair = tuple[int, int]

_MOST_COMPARED = 250_000  # pairs of lines in a part without unique lines; a larger part counts as changed


def common_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Pair]:
    """Yield the positions of each line that both versions have, in the old one and in the new one."""
    parts = [(0, len(old), 0, len(new))]
    while parts:
        first, last, begin, end = parts.pop()
        while first < last and begin < end and old[first] == new[begin]:
            yield first, begin
            first, begin = first + 1, begin + 1
        while first < last and begin < end and old[last - 1] == new[end - 1]:
            last, end = last - 1, end - 1
            yield last, end
        if first == last or begin == end or last - first == end - begin == 1:
            continue  # one line differs from the other
        anchors = _anchors(old[first:last], new[begin:end])
        if anchors:
            before = (first, begin)
            for one, other in [*((first + one, begin + other) for one, other in anchors), (last, end)]:
                parts.append((before[0], one, before[1], other))
                before = (one, other)
        elif (last - first) * (end - begin) <= _MOST_COMPARED:
            yield from ((first + one, begin + other) for one, other in _by_all(old[first:last], new[begin:end]))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Return the lines that are unique in both parts and in the same order: the longest increasing sequence."""
    counts, new_counts = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(new) if new_counts[line] == 1}
    pairs = [(place, places[line]) for place, line in enumerate(old) if counts[line] == 1 and line in places]
    ends: list[int] = []  # the last place of the best sequence of each length
    which: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        which[length : length + 1] = [number]
        before.append(which[length - 1] if length else -1)
    found = []
    number = which[-1] if which else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _by_all(old: Sequence[str], new: Sequence[str]) -> Iterator[Pair]:
    from difflib import SequenceMatcher  # rarely needed

    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        yield from ((block.a + at, block.b + at) for at in range(block.size))
