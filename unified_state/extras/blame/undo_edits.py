"""Which edit wrote each line of a file: the edits are undone from the newest to the oldest.

An edit is undone where its new text is in the file: that text becomes the text that it replaced, and the lines that
only the new text has are its lines. So a line that two edits wrote belongs to the one that wrote it last, and a line
that stands twice is found by what is around it. Where the file was changed by other means, the lines of an edit are
looked for one by one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from unified_state.lib.record import Record

_SLACK = 2_000  # milliseconds: git's times are whole seconds
_TELLING = 8  # least characters of a line that is certain, and of one that is found without what is around it
_MOST_PLACES = 50  # of a text in a file
_MOST_WORK = 1_000_000_000  # characters that are looked through for one file


class Edit(Record):
    """One change of a file: the text `before`, and the text `after`.

    A `is_whole` edit writes the whole file, which is new if `is_new`. `is_lines` says that both are whole lines, and
    `is_everywhere` that every occurrence is replaced.
    """

    step: int
    at: int
    before: str
    after: str
    is_whole: bool = False
    is_new: bool = False
    is_lines: bool = False
    is_everywhere: bool = False


def split_lines(text: str) -> list[str]:
    """Return the lines of a text. The last one may lack its end."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def writers_of(lines: Sequence[str], edits: Sequence[Edit], since: Sequence[int | None]) -> list[Edit | None]:
    """Return for each line of a file the edit that wrote it, or None.

    `edits` begin with the newest. `since` has for each line the time of its commit, in milliseconds: no later edit
    wrote it.
    """
    undoing = _Undoing(lines, since)
    for edit in edits[: _MOST_WORK // (1 + sum(map(len, lines)))]:
        undoing.undo(edit)
    return undoing.writers


def certain_lines(lines: Sequence[str], writers: Sequence[Edit | None], edits: Sequence[Edit]) -> list[bool]:
    """Return for each line whether its edit is certain: no other line and no other step can have written it.

    A line that stands twice, or that two steps added, may have come from either, and a file that was not new may have
    had the line before it was written as a whole.
    """
    counts, adders = Counter(lines), defaultdict[str, set[int]](set)
    for edit in edits:
        for line in _changed(edit):
            adders[line].add(edit.step)
    return [
        edit is not None
        and (edit.is_new or (not edit.is_whole and counts[line] == 1 and adders[line] == {edit.step}))
        and len(line.strip()) >= _TELLING
        for line, edit in zip(lines, writers, strict=True)
    ]


def _changed(edit: Edit) -> set[str]:
    """Return the lines of the new text without those that begin and end the old one, too."""
    old, new = ([] if edit.is_whole else edit.before.split("\n")), edit.after.split("\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return set(new)


def _common_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of each line that both versions have, in the old one and in the new one."""
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        yield from ((block.a + at, block.b + at) for at in range(block.size))


class _Undoing:
    def __init__(self, lines: Sequence[str], since: Sequence[int | None]) -> None:
        self.writers: list[Edit | None] = [None] * len(lines)
        self._since = since
        self._text = "\n".join(["", *lines, ""])  # so that a newline is on both sides of every line
        self._numbers = [-1, *range(len(lines)), -1]  # of each line of the text: its number in the file, or -1

    def undo(self, edit: Edit) -> None:
        if edit.is_whole:
            self._undo_whole(edit)
            return
        before, after = (f"\n{text}\n" if edit.is_lines else text for text in (edit.before, edit.after))
        if not after.strip():
            return  # what it deleted could have been anywhere
        places = self._places(after)
        if len(places) > 1 and not edit.is_everywhere:
            places = [place for place in places if before and self._is_unique_then(place, before, after)]
            if len(places) > 1:
                return
        for place in reversed(places):
            self._replace(edit, place, before, after)
        if not places:
            self._claim_lines_left(edit)

    def _places(self, text: str) -> list[int]:
        places: list[int] = []
        place = self._text.find(text)
        while place >= 0 and len(places) < _MOST_PLACES:
            if not self._cuts_a_word(place, text):
                places.append(place)
            place = self._text.find(text, place + max(1, len(text) - 1))  # the newline at the end may begin the next
        return places

    def _cuts_a_word(self, place: int, text: str) -> bool:
        end = place + len(text)
        begins = text[0].isalnum() and self._text[place - 1].isalnum()
        return begins or (text[-1].isalnum() and self._text[end : end + 1].isalnum())

    def _is_unique_then(self, place: int, before: str, after: str) -> bool:
        """Return whether the text before the edit would stand once, as the client demands."""
        return (self._text[:place] + before + self._text[place + len(after) :]).count(before) == 1

    def _replace(self, edit: Edit, place: int, before: str, after: str) -> None:
        """Put the text before an edit at the place of its new text, unless all its lines are older than the edit."""
        text = self._text
        start = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place + len(after))
        end = len(text) if end < 0 else end
        earlier = text[start:place] + before + text[place + len(after) : end]
        first = text.count("\n", 0, start)
        old, new = earlier.split("\n"), text[start:end].split("\n")
        numbers = self._numbers[first : first + len(new)]
        kept = dict(_common_lines(old, new))
        added = [numbers[at] for at in sorted(set(range(len(new))).difference(kept.values()))]
        if self._claim(edit, added):
            self._numbers[first : first + len(new)] = [
                numbers[kept[at]] if at in kept else -1 for at in range(len(old))
            ]
            self._text = text[:start] + earlier + text[end:]

    def _undo_whole(self, edit: Edit) -> None:
        written = split_lines(edit.after)
        numbers = [-1] * len(written)
        for one, other in _common_lines(written, self._text.split("\n")[1:-1]):
            numbers[one] = self._numbers[other + 1]
        self._claim(edit, numbers)
        self._text, self._numbers = "\n".join(["", *written, ""]), [-1, *numbers, -1]

    def _claim_lines_left(self, edit: Edit) -> None:
        """Claim the lines of an edit whose text as a whole is not in the file, around those that occur in it once."""
        new, now = edit.after.split("\n"), self._text.split("\n")
        counts, places = Counter(now), dict(zip(now, range(len(now)), strict=True))
        telling = _changed(edit)
        offsets = sorted(
            places[line] - at
            for at, line in enumerate(new)
            if line in telling and counts[line] == 1 and len(line.strip()) >= _TELLING
        )
        if not offsets:
            return
        begin = max(0, offsets[len(offsets) // 2] - len(new))
        end = begin + 3 * len(new)
        kept = {at for _, at in _common_lines(edit.before.split("\n"), new)}
        found = [place for at, place in _common_lines(new, now[begin:end]) if at not in kept]
        self._claim(edit, [self._numbers[begin + place] for place in found])

    def _claim(self, edit: Edit, numbers: Sequence[int]) -> bool:
        """Give lines to an edit, if it is not later than them. Return False if it is later than all of them.

        What an edit of the whole file wrote, an older edit may have written before.
        """
        in_file = [number for number in numbers if number >= 0]
        possible = [number for number in in_file if edit.at <= (self._since[number] or edit.at) + _SLACK]
        for number in possible:
            writer = self.writers[number]
            if writer is None or writer.is_whole:
                self.writers[number] = edit
        return bool(possible) or not in_file
