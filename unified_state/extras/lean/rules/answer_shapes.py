"""Find and replace the text in a tool's answer.

The client accepts a replacement only in the tool's own format. An answer in an unknown format stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unified_state.extras.lean.rules.cut_marks import holds_marks

Path = tuple[str | int, ...]


def text_of(tool: str, answer: Any) -> str | None:
    """Return the text of an answer that the model would read, or None if it is not certain."""
    path = _path(tool, answer)
    if path is None:
        return None
    found = _at(answer, path)
    return found if isinstance(found, str) else "\n".join(found)


def with_text(tool: str, answer: Any, text: str) -> Any:
    """Return the answer with another text. Call it only if `text_of` found a text."""
    path = _path(tool, answer)
    assert path is not None  # noqa: S101  # the caller was given its text
    is_list = isinstance(_at(answer, path), list)
    return _put(answer, path, text.split("\n") if is_list else text)


def _path(tool: str, answer: Any) -> Path | None:
    if tool.startswith("mcp__"):
        return _longest(answer, ()) if isinstance(answer, list) else _text(answer, ())
    find = _KNOWN.get(tool)
    return find(answer) if find is not None and isinstance(answer, dict) else None


def _shell(answer: Any) -> Path | None:
    """Return the path of the text, unless the client wrote a very long output to a file and shows little of it."""
    is_plain = not any(answer.get(name) for name in ("isImage", "interrupted", "persistedOutputPath"))
    return _text(answer, ("stdout",)) if is_plain else None


def _matches(answer: Any) -> Path | None:
    return _names(answer) if answer.get("mode") == "files_with_matches" else _text(answer, ("content",))


def _text(answer: Any, path: Path) -> Path | None:
    return path if isinstance(_at(answer, path), str) else None


def _longest(answer: Any, path: Path) -> Path | None:
    """Return the path of the longest text in a list of text blocks, or None if any of them imitates a short form."""
    blocks = _at(answer, path)
    texts = [block["text"] for block in blocks if _is_text(block)] if isinstance(blocks, list) else []
    if not texts or len(texts) < len(blocks) or any(map(holds_marks, texts)):
        return None
    lengths = list(map(len, texts))
    return (*path, lengths.index(max(lengths)), "text")


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _names(answer: Any) -> Path | None:
    """Return the path of a list of file names, which the model reads as one name on each line."""
    names = answer.get("filenames")
    is_plain = isinstance(names, list) and all(isinstance(name, str) and "\n" not in name for name in names)
    return ("filenames",) if is_plain else None


def _at(answer: Any, path: Path) -> Any:
    for key in path:
        if isinstance(key, str) and not isinstance(answer, dict):
            return None
        answer = answer.get(key) if isinstance(key, str) else answer[key]
    return answer


def _put(answer: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    changed = answer.copy()
    changed[path[0]] = _put(answer[path[0]], path[1:], value)
    return changed


_KNOWN: dict[str, Callable[[Any], Path | None]] = {
    "Bash": _shell,
    "Grep": _matches,
    "Glob": _names,
    "WebFetch": lambda answer: _text(answer, ("result",)),
    "Agent": lambda answer: _longest(answer, ("content",)),
    "Task": lambda answer: _longest(answer, ("content",)),
}
