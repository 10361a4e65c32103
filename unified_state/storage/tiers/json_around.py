"""Lines of a file with those beside them, each read where it lies."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from unified_state.storage.tiers.json_files import LineFiles

_LOOK_BACK = 4096  # bytes before a line in which the one before it is looked for first


def lines_around(files: LineFiles, name: str, begins: Iterable[int]) -> dict[int, bytes]:
    """The lines that begin at some places, and those before and behind each; by where they begin, in order."""

    def read(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
        for begin in begins:
            at = _line_before(file, begin)
            file.seek(at)
            for _ in range(2 + (at < begin)):
                line = file.readline(size - at)
                if line:
                    yield at, line
                at += len(line)

    return dict(sorted(files.reading(name, read)))


def _line_before(file: BinaryIO, begin: int) -> int:
    """Where the line before a place begins; the place itself where there is none."""
    length = _LOOK_BACK
    while begin:
        look = min(begin, length)
        file.seek(begin - look)
        end = file.read(look - 1).rfind(b"\n") + 1  # without the end of that line
        if end or look == begin:
            return begin - look + end
        length *= 8
    return 0
