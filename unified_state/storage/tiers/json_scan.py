"""The first look of a search without an index: in which lines of the files the roots of the query's words stand.

A file is read in parts, and only where a root stands in a part is it asked in which line. That is fast, and takes too
much for a match: a root inside another word, or in another field. What is kept of it is bounded, whatever the history
has grown to: of more lines those that seem to match worse go.
"""

from __future__ import annotations

from array import array
from heapq import nlargest
from itertools import accumulate

from unified_state.rules.relevance import inverse_frequency
from unified_state.storage.tiers.json_forms import readable_fields
from unified_state.storage.tiers.json_steps import is_copy, with_originals
from unified_state.storage.tiers.json_tables import session_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from unified_state.storage.tiers.json_files import LineFiles

    Passes = Callable[[Mapping[str, Any]], bool]
    # A line that seems to match: its session, its place in the file, how often it has each root, how long it is. There
    # may be a hundred thousand of them, and a tuple is made soonest.
    Line = tuple[int, int, Sequence[int], int]

_MOST_LINES = 20_000  # that are kept to be compared
_SATURATION, _LENGTH = 0.3, 0.9  # of a line: how soon more of a word tells less, how much a long line counts less


class Scan:
    """A look for roots through the files of sessions. `passes` chooses among the steps, where not all are asked for;
    a step that another session had first is looked at where `with_copies` says so.

    `weights` are what the roots are worth; `begins` is where the lines of a session begin that has some.
    """

    def __init__(
        self, files: LineFiles, roots: Sequence[str], passes: Passes | None, most: int, *, with_copies: bool
    ) -> None:
        self._files = files
        self._roots = [root.encode("utf-8", "surrogatepass") for root in roots]
        self._is_plain = all(map(bytes.isascii, self._roots))
        self._passes = passes
        self._most = most
        self._with_copies = with_copies
        self._lines: list[Line] = []
        self._found = self._size = self._total = 0
        self._having = [0] * len(roots)
        self.begins: dict[int, array[int]] = {}

    def look(self, session: int) -> None:
        """Look through the file of a session."""
        begins, known = array("q", [0]), self._found
        for part in self._files.parts(session_file(session)):
            lines = part.split(b"\n")[:-1]
            first = len(begins) - 1
            begins.extend(accumulate((len(line) + 1 for line in lines[1:]), initial=begins[-1] + len(lines[0]) + 1))
            if self._with_copies and any(map(is_copy, lines)):
                lines = with_originals(self._files, lines)
                part = b"\n".join((*lines, b""))  # noqa: PLW2901  # the same lines, as they are to be looked at
            for index, counts in self._counts(part).items():
                if self._fits(lines[index]):
                    self._keep((session, first + index, counts, len(lines[index])))
        self._total += len(begins) - 1
        if self._found > known:
            self.begins[session] = begins

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

    def _counts(self, part: bytes) -> dict[int, list[int]]:
        """How often each root stands in a line, for those that have one."""
        folded = part.lower() if self._is_plain or part.isascii() else _folded(part)
        found: dict[int, list[int]] = {}
        for number, root in enumerate(self._roots):
            line, end, at = 0, 0, folded.find(root)
            while at >= 0:
                line += folded.count(b"\n", end, at)
                end = folded.find(b"\n", at)
                found.setdefault(line, [0] * len(self._roots))[number] = folded.count(root, at, end)
                at = folded.find(root, end)
        return found

    def _fits(self, line: bytes) -> bool:
        """Whether a line may be told of; that of a copy has no text, and the original stands for it."""
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


def _folded(part: bytes) -> bytes:
    return part.decode("utf-8", "surrogatepass").lower().encode("utf-8", "surrogatepass")
