"""Which edit wrote each line of a file: the edits are undone from the newest to the oldest.

An edit is undone where its new text is in the file: that text becomes the text that it replaced, and the lines that
only the new text has are its lines. So a line that two edits wrote belongs to the one that wrote it last, and a line
that stands twice is found by what is around it. Where the file was changed by other means, the lines of an edit are
looked for one by one, and count as certain only if nothing else can have written them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from unified_state.extras.blame.rules.align_lines import common_lines
from unified_state.lib.record import Record

_SLACK = 2_000  # milliseconds: git's times are whole seconds
_TELLING, _TELLING_ALONE = 8, 12  # least characters of a text, and of a line without its surroundings, that are certain
_MOST_PLACES = 50  # of a text in a file
_AROUND = 4_000  # characters around an edit in which its lines may slide
_MARGIN = 3  # lines around the parts of an edit in which its other lines are looked for
_MOST_WORK = 2_000_000_000  # characters that are looked through for one file: about four seconds


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


class Claim(Record):
    """The edit that wrote a line, and whether that is certain."""

    edit: Edit
    is_certain: bool


def split_lines(text: str) -> list[str]:
    """Return the lines of a text. The last one may lack its end."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def claim_lines(lines: Sequence[str], edits: Sequence[Edit], since: Sequence[int | None]) -> list[Claim | None]:
    """Return for each line of a file the edit that wrote it, or None.

    `edits` begin with the newest. `since` has for each line the time of its commit, in milliseconds: no later edit
    wrote it.
    """
    undoing = _Undoing(lines, since)
    for edit in edits:
        if undoing.work > _MOST_WORK or undoing.is_done():
            break
        undoing.undo(edit)
    return _with_doubts(lines, undoing.claims(), edits)


def _with_doubts(lines: Sequence[str], claims: list[Claim | None], edits: Sequence[Edit]) -> list[Claim | None]:
    """Return the claims, of which only those stay certain that no other line and no other step can have.

    A line that stands twice, or that two steps added, may have come from either, except in a new file that is written
    as a whole. Of a line that the step wrote only a part of, or moved, others may have written the rest. A line without
    a word is what a diff slides along.
    """
    counts = Counter(lines)
    adders: dict[str, set[int]] = {}
    for edit in edits:
        for line in _added(edit):
            adders.setdefault(line, set()).add(edit.step)
    return [
        claim.replace(is_certain=False)
        if claim is not None
        and claim.is_certain
        and (
            not any(map(str.isalnum, line))
            or (not claim.edit.is_new and (counts[line] > 1 or adders.get(line) != {claim.edit.step}))
        )
        else claim
        for line, claim in zip(lines, claims, strict=True)
    ]


def _added(edit: Edit) -> set[str]:
    """Return the lines that only the new text of an edit has."""
    return set(edit.after.split("\n")).difference(() if edit.is_whole else edit.before.split("\n"))


def _sliding(lines: Sequence[str], added: Sequence[int]) -> set[int]:
    """Return the added lines that a diff may as well give to the lines next to them: `b a b` for `a b a`."""
    sliding: set[int] = set()
    for first, last in _runs(added):
        up = down = 0
        while first - 1 - up >= 0 and up < len(lines) and lines[first - 1 - up] == lines[last - up]:
            up += 1
        while last + 1 + down < len(lines) and lines[last + 1 + down] == lines[first + down]:
            down += 1
        sliding |= {*range(last - up + 1, last + 1), *range(first, first + down)}
    return sliding


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


class _Undoing:
    def __init__(self, lines: Sequence[str], since: Sequence[int | None]) -> None:
        self.work = 0
        self._text = "\n".join(["", *lines, ""])  # so that a newline is on both sides of every line
        self._tags = [-1, *range(len(lines)), -1]  # of each line now: its number in the file, or -1
        self._since = since
        self._sure: list[Claim | None] = [None] * len(lines)
        self._whole: list[Claim | None] = [None] * len(lines)  # older edits may have written them too
        self._left = len(lines)

    def is_done(self) -> bool:
        return not self._left

    def claims(self) -> list[Claim | None]:
        return [sure or whole for sure, whole in zip(self._sure, self._whole, strict=True)]

    def undo(self, edit: Edit) -> None:
        self.work += len(self._text)
        if edit.is_whole:
            self._undo_whole(edit)
            return
        before, after = (f"\n{text}\n" if edit.is_lines else text for text in (edit.before, edit.after))
        if not after.strip():
            return  # what it deleted could have been anywhere
        places = self._places(after)
        if edit.is_everywhere:
            for place in reversed(places):
                self._replace(edit, place, before, after, is_certain=len(after.strip()) >= _TELLING)
            return
        if len(places) > 1 and before:
            self.work += len(self._text) * len(places)
            places = [place for place in places if self._is_unique_then(place, before, after)]
        if len(places) == 1:
            self._replace(edit, places[0], before, after, is_certain=len(after.strip()) >= _TELLING)
        elif not places or before:
            self._undo_parts(edit)

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

    def _replace(self, edit: Edit, place: int, before: str, after: str, *, is_certain: bool) -> None:
        text = self._text
        start = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place + len(after))
        end = len(text) if end < 0 else end
        earlier = text[start:place] + before + text[place + len(after) : end]
        first = text.count("\n", 0, start)
        old, new = earlier.split("\n"), text[start:end].split("\n")
        tags = self._tags[first : first + len(new)]
        kept = dict(common_lines(old, new))
        added = sorted(set(range(len(new))).difference(kept.values()))
        above = text[max(0, start - _AROUND) : max(0, start - 1)].split("\n")[1:]
        below = text[end + 1 : end + _AROUND].split("\n")[:-1]
        sliding = _sliding([*above, *new, *below], [len(above) + at for at in added])
        if not self._claim_all(edit, [(tags[at], is_certain and len(above) + at not in sliding) for at in added]):
            return  # these lines are older than the edit
        self._tags[first : first + len(new)] = [tags[kept[at]] if at in kept else -1 for at in range(len(old))]
        self._text = text[:start] + earlier + text[end:]

    def _claim_all(self, edit: Edit, found: Sequence[tuple[int, bool]]) -> bool:
        """Claim lines, each for certain or not. Return False if all of them are older than the edit."""
        possible = [(tag, is_certain) for tag, is_certain in found if self._may_write(edit, tag)]
        for tag, is_certain in possible:
            self._claim(tag, Claim(edit, is_certain))
        return bool(possible) or all(tag < 0 for tag, _ in found)

    def _undo_whole(self, edit: Edit) -> None:
        written, now = split_lines(edit.after), self._text.split("\n")[1:-1]
        tags = [-1] * len(written)
        for one, other in common_lines(written, now):
            tags[one] = self._tags[other + 1]
        # What an older text of the whole file lacks was written by the newer one.
        for tag, claim in enumerate(self._whole):
            if claim is not None and not claim.is_certain:
                self._whole[tag] = claim.replace(is_certain=True)
        for tag in tags:
            if tag >= 0 and self._sure[tag] is None and self._may_write(edit, tag):
                self._whole[tag] = Claim(edit, is_certain=edit.is_new)
        self._text, self._tags = "\n".join(["", *written, ""]), [-1, *tags, -1]

    def _undo_parts(self, edit: Edit) -> None:
        """Undo an edit whose text as a whole is not in the file: its lines that are still there, in their order.

        They are looked for around those that stand once, in the file and in the edit.
        """
        old, new, now = edit.before.split("\n"), edit.after.split("\n"), self._text.split("\n")
        self.work += 4 * len(self._text)
        places, again = dict(zip(now, range(len(now)), strict=True)), Counter(now)
        counts = Counter(new)
        anchors = [
            (at, places[line])
            for at, line in enumerate(new)
            if counts[line] == 1 and again[line] == 1 and len(line.strip()) >= _TELLING
        ]
        if not anchors:
            return
        offset = sorted(place - at for at, place in anchors)[len(anchors) // 2]
        near = [place - at for at, place in anchors if abs(place - at - offset) <= len(new)]
        begin, end = max(0, min(near) - _MARGIN), min(len(now), max(near) + len(new) + _MARGIN)
        kept = {place for _, place in common_lines(old, new)}
        found = {at: begin + place for at, place in common_lines(new, now[begin:end]) if at not in kept}
        unique = {at for at, _ in anchors}
        claimed = [
            (
                self._tags[place],
                len(new[at].strip()) >= _TELLING_ALONE and at in unique,
            )
            for at, place in found.items()
        ]
        if self._claim_all(edit, claimed):
            gone = set(found.values())
            self._tags = [tag for place, tag in enumerate(self._tags) if place not in gone]
            self._text = "\n".join(line for place, line in enumerate(now) if place not in gone)

    def _may_write(self, edit: Edit, tag: int) -> bool:
        since = self._since[tag] if tag >= 0 else None
        return tag >= 0 and (since is None or edit.at <= since + _SLACK)

    def _claim(self, tag: int, claim: Claim) -> None:
        if self._sure[tag] is None:
            self._sure[tag] = claim
            self._left -= 1
