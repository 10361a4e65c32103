"""The files of a session, each with the names that were seen in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.text import estimate_tokens
from unified_state.model.known import WorkingFile

_MOST_NAMES = 80  # of a file
_LONGEST_PATH = 200
_PATH_STARTS = "./~@_"  # in addition to letters and digits


def file_lines(files: Iterable[WorkingFile], tokens: float) -> Iterator[str]:
    """Yield a line for each file, the most important first, within so many tokens."""
    for line in map(_line, filter(_is_tellable, files)):
        tokens -= estimate_tokens(f"{line}\n")
        if tokens < 0:
            return
        yield line


def _line(file: WorkingFile) -> str:
    """Return the path with what became of the file, and its names."""
    path = _shown(file.path) + (f" ({harmless(file.gone)})" if file.gone else "")
    names = () if file.gone else file.words[:_MOST_NAMES]
    return f"{path}: {' '.join(names)}" if names else path


def _is_tellable(file: WorkingFile) -> bool:
    """Return whether a file says anything: a path of the repository that no program shortened, edited, moved or with
    names. One that was removed has to have names.
    """
    path = file.path
    is_path = 2 < len(path) < _LONGEST_PATH and "…" not in path and path.isprintable()  # noqa: PLR2004  # `a/` says nothing
    return is_path and bool(file.words or (file.gone.startswith("moved to ") if file.gone else file.is_used))


def _shown(path: str) -> str:
    """Return the path for display. `./` is added if it could look like another kind of line: `T7 (now) prompt: go`."""
    is_plain = (path[0].isalnum() or path[0] in _PATH_STARTS) and " " not in path
    return harmless(path if is_plain or path[0] in "./~" else f"./{path}")
