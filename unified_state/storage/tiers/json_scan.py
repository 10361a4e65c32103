"""The first look of a search without an index: in which lines of the files the roots of the query's words stand.

A file is read in parts, and only where a root stands in a part is it asked in which line. That is fast, and takes too
much for a match: a root inside another word, or in another field. What is kept of it is bounded, whatever the history
has grown to: of more lines those that seem to match worse go.
"""

from __future__ import annotations

from heapq import nlargest

from unified_state.rules.relevance import inverse_frequency
from unified_state.storage.tiers.json_forms import readable_fields
from unified_state.storage.tiers.json_steps import COPY, is_copy, with_originals
from unified_state.storage.tiers.json_tables import session_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from unified_state.storage.tiers.json_files import LineFiles

    Passes = Callable[[Mapping[str, Any]], bool]
    Found = tuple[int, bytes, Sequence[int], int]  # where a line begins, the line, how often it has each root, its size
    # A line that seems to match: its session, where it begins in the file, how often it has each root, its size. There
    # may be a hundred thousand of them, and a tuple is made soonest.
    Line = tuple[int, int, Sequence[int], int]

_MOST_LINES = 20_000  # that are kept to be compared
_SATURATION, _LENGTH = 0.3, 0.9  # of a line: how soon more of a word tells less, how much a long line counts less


class Scan:
    """A look for roots through the files of sessions. `passes` chooses among the steps, where not all are asked for;
    a step that another session had first is looked at where `with_copies` says so.

    `weights` are what the roots are worth.
    """

    def __init__(
        self, files: LineFiles, roots: Sequence[str], passes: Passes | None, most: int, *, with_copies: bool
    ) -> None:
        self._files = files
        self._roots = [root.encode("utf-8", "surrogatepass") for root in roots]
        self._is_plain = all(root.isascii() or root.upper() == root for root in roots)
        self._passes = passes
        self._most = most
        self._with_copies = with_copies
        self._lines: list[Line] = []
        self._found = self._size = self._total = 0
        self._having = [0] * len(roots)

    def look(self, session: int) -> None:
        """Look through the file of a session."""
        for begin, part in self._files.parts(session_file(session)):
            self._total += part.count(b"\n")
            has_copies = self._with_copies and COPY in part
            is_plain = not has_copies and (self._is_plain or part.isascii())
            for at, line, counts, size in self._in_whole(part) if is_plain else self._line_by_line(part):
                if self._fits(line):
                    self._keep((session, begin + at, counts, size))

    def best(self) -> list[Line]:
        """The lines that seem to match best."""
        usual = self._size / (self._found or 1)
        weights = self.weights

        def worth(line: Line) -> tuple[int, float]:
            _, _, counts, size = line
            norm = _SATURATION + _LENGTH * size / usual
            told = [(weight, n) for weight, n in zip(weights, counts, strict=True) if n]
            return len(told), sum(weight * n / (n + norm) for weight, n in told)

        return nlargest(self._most, self._lines, key=worth)

    @property
    def weights(self) -> list[float]:
        """What each root is worth, by how rare it is."""
        return [inverse_frequency(self._total, having) for having in self._having]

    def _in_whole(self, part: bytes) -> Iterator[Found]:
        """The lines that have a root, looked for in all of the part, which is as long in lower case."""
        folded = part.lower()
        found: dict[tuple[int, int], list[int]] = {}
        for number, root in enumerate(self._roots):
            at = folded.find(root)
            while at >= 0:
                begin, end = folded.rfind(b"\n", 0, at) + 1, folded.find(b"\n", at)
                found.setdefault((begin, end), [0] * len(self._roots))[number] = folded.count(root, at, end)
                at = folded.find(root, end)
        for (begin, end), counts in found.items():
            yield begin, part[begin:end], counts, end - begin

    def _line_by_line(self, part: bytes) -> Iterator[Found]:
        """The same where lower case has other lengths, or where copies are to be looked at as their originals are."""
        lines = part.split(b"\n")[:-1]
        begin = 0
        for raw, line in zip(lines, with_originals(self._files, lines) if self._with_copies else lines, strict=True):
            folded = line.decode("utf-8", "surrogatepass").lower().encode("utf-8", "surrogatepass")
            counts = list(map(folded.count, self._roots))
            if any(counts):
                yield begin, line, counts, len(raw)
            begin += len(raw) + 1

    def _fits(self, line: bytes) -> bool:
        """Whether a line may be told of; a copy has no text, and its original stands for it."""
        return not is_copy(line) and (self._passes is None or any(map(self._passes, readable_fields([line]))))

    def _keep(self, line: Line) -> None:
        _, _, counts, size = line
        self._found += 1
        self._size += size
        for number, count in enumerate(counts):
            self._having[number] += count > 0
        self._lines.append(line)
        if len(self._lines) >= max(_MOST_LINES, 2 * self._most):
            self._lines = self.best()
