"""Edit a host's JSON settings and keep all other bytes, because people format these files and keep them under version
control.

A path of object keys names a position. The text must be a valid JSON object. It may begin with a byte order mark, which
editors on Windows write.

Lists of settings files in the data folder hold what a settings file itself cannot say. A list that becomes empty is
deleted, so that nothing stays after the last uninstallation.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

from unified_state.agents.install.settings_link import file_behind
from unified_state.errors import StorageError, UnifiedStateError
from unified_state.lib.files import write_atomically
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, read_regular

Span = tuple[int, int]
T = TypeVar("T")

_BLANK = " \t\r\n"
_TRIES = 10  # of an edit while other programs write
_decoder = json.JSONDecoder()


def read_text(path: str) -> str | None:
    """Return a host's settings file, or None if there is none. Raises UnifiedStateError if it cannot be edited
    safely.
    """
    try:
        text = read_regular(path, LARGE_FILE).decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read: {error}"
        raise StorageError(message, "nothing was changed") from error
    try:
        settings = parsed(text)
    except (ValueError, RecursionError) as error:
        message = f"{path} is not valid JSON ({error})"
        raise UnifiedStateError(message, "nothing was changed; mend the file and try again") from error
    if not _has_known_shape(settings):
        message = f"{path} has another shape than the client's settings"
        raise UnifiedStateError(
            message, "nothing was changed; `hooks` holds lists by event, `permissions.allow` is a list"
        )
    return text


def _has_known_shape(settings: Any) -> bool:
    hooks, permissions = (
        (settings.get("hooks", {}), settings.get("permissions", {})) if isinstance(settings, dict) else (None, None)
    )
    return (
        isinstance(hooks, dict)
        and all(isinstance(groups, list) for groups in hooks.values())
        and isinstance(permissions, dict)
        and isinstance(permissions.get("allow", []), list)
    )


class ChangedMeanwhileError(StorageError):
    """Another program, such as the client, wrote the settings file after it was read."""


def again_if_changed(edit: Callable[[], T]) -> T:
    """Return edit(), which reads and writes settings. It is called again if another program wrote them meanwhile."""
    for _ in range(_TRIES - 1):
        try:
            return edit()
        except ChangedMeanwhileError:
            continue  # the next try reads what was written
    return edit()


def write_text(path: str, before: str | None, text: str, data_dir: str, *, is_empty: bool = False) -> bool:
    """Write edited settings, behind a symlink into its target, and return whether anything changed.

    A file that did not exist before is recorded as ours. A recorded file that is empty now is deleted. Raises
    ChangedMeanwhileError if the settings are not as `before` any more.
    """
    goes = is_empty and before is not None and CREATED.has(data_dir, path)
    if goes or text != before:
        _put(path, file_behind(path), before, None if goes else text)
    if goes:
        CREATED.remove(data_dir, path)
    if before is None:
        CREATED.add(data_dir, path)
    return text != before


def _put(path: str, target: str, before: str | None, text: str | None) -> None:
    """Replace the file, or delete it (None), if it is as it was before."""

    def is_unchanged() -> bool:
        try:
            return read_regular(target, LARGE_FILE).decode("utf-8", "replace") == before
        except FileNotFoundError:
            return before is None

    if text is None and is_unchanged():
        os.unlink(target)
    elif text is None or not write_atomically(target, text.encode(), last_look=is_unchanged):
        message = f"{path} was changed by another program while it was edited"
        raise ChangedMeanwhileError(message, "nothing was changed; try again")


def without_handlers(text: str, is_ours: Callable[[Any], bool]) -> str:
    """Return the text without our handlers in its hook lists."""
    hooks = parsed(text).get("hooks")
    for event in list(hooks) if isinstance(hooks, dict) else []:
        text = remove_handlers(text, ("hooks", event), is_ours)
    return text


def remove_handlers(text: str, path: tuple[str, ...], is_ours: Callable[[Any], bool]) -> str:
    """Return the text without our handlers in the groups at a path. A group that has no others goes with them."""
    span = _find(text, path)
    for start, _ in reversed(_elements(text, span[0]) if span else []):
        inner = _members(text, start).get("hooks")
        handlers = _elements(text, inner[1][0]) if inner else []
        ours = [place for place in handlers if is_ours(json.loads(text[slice(*place)]))]
        for place in reversed(ours if len(ours) < len(handlers) else []):
            text = _cut(text, place)

    def has_only_ours(entry: Any) -> bool:
        handlers = entry.get("hooks", [entry]) if isinstance(entry, dict) else None
        return isinstance(handlers, list) and bool(handlers) and all(map(is_ours, handlers))

    return remove_entries(text, path, has_only_ours)


def parsed(text: str) -> Any:
    """Return the value of the text. Raises ValueError if it is not JSON."""
    return json.loads(text.removeprefix("\ufeff"))


def append_entries(text: str, path: tuple[str, ...], entries: list[Any]) -> str:
    """Return the text with entries added to the array at a path. Missing arrays and objects on the path are created."""
    start, depth = _root(text), 0
    for key in path:
        members = _members(text, start)
        if key not in members:
            return _add_member(text, start, path[depth:], entries, depth)
        start, depth = members[key][1][0], depth + 1
    spans = _elements(text, start)
    return _insert(
        text, start, spans[-1][1] if spans else None, [_laid_out(entry, depth + 1, text) for entry in entries], depth
    )


def remove_entries(text: str, path: tuple[str, ...], is_unwanted: Callable[[Any], bool]) -> str:
    """Return the text without the unwanted array entries. An array that becomes empty is removed, together with parents
    that become empty.
    """
    span = _find(text, path)
    if span is None:
        return text
    spans = _elements(text, span[0])
    unwanted = [place for place in spans if is_unwanted(json.loads(text[slice(*place)]))]
    if not unwanted:
        return text
    if len(unwanted) == len(spans):
        return _remove_member(text, path)
    for place in reversed(unwanted):
        text = _cut(text, place)
    return text


def member_text(text: str, key: str) -> str | None:
    """Return the JSON text of a top-level member, or None if there is none."""
    span = _find(text, (key,))
    return None if span is None else text[slice(*span)]


def set_member(text: str, key: str, value: str) -> str:
    """Return the text with a top-level member set to this JSON, which is inserted unchanged."""
    span = _find(text, (key,))
    if span is None:
        start = _root(text)
        ends = [end for _, (_, end) in _members(text, start).values()]
        return _insert(text, start, max(ends, default=None), [f"{json.dumps(key)}: {value}"], 0)
    return text[: span[0]] + value + text[span[1] :]


def remove_member(text: str, key: str) -> str:
    """Return the text without a top-level member."""
    return text if _find(text, (key,)) is None else _remove_member(text, (key,))


def _remove_member(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the member at a path, and without parent objects that contain nothing else."""
    holder = _find(text, path[:-1])
    if holder is None:
        return text
    members = _members(text, holder[0])
    if len(members) == 1 and len(path) > 1:
        return _remove_member(text, path[:-1])
    key_at, (_, end) = members[path[-1]]
    return _cut(text, (key_at, end))


def _cut(text: str, span: Span) -> str:
    """Return the text without a member or element, and without the comma that separated it from its neighbour."""
    begin, end = span
    after = _skip(text, end)
    if text[after] == ",":
        return text[:begin] + text[_skip(text, after + 1) :]
    before = len(text[:begin].rstrip(_BLANK))
    if text[before - 1] == ",":
        return text[: before - 1] + text[end:]
    return text[:before] + text[after:]


def _add_member(text: str, start: int, path: tuple[str, ...], value: Any, depth: int) -> str:
    for key in reversed(path[1:]):
        value = {key: value}
    ends = [span[1] for _, span in _members(text, start).values()]
    member = f"{json.dumps(path[0])}: {_laid_out(value, depth + 1, text)}"
    return _insert(text, start, max(ends, default=None), [member], depth)


def _insert(text: str, start: int, last_end: int | None, pieces: list[str], depth: int) -> str:
    """Return the text with pieces on separate lines in the object or array at `start`, after its last entry."""
    line = _newline(text) + _indent(text) * (depth + 1)
    if last_end is not None:
        return text[:last_end] + "".join(f",{line}{piece}" for piece in pieces) + text[last_end:]
    closing = _skip(text, start + 1)
    inside = line + f",{line}".join(pieces) + _newline(text) + _indent(text) * depth
    return text[: start + 1] + inside + text[closing:]


def _find(text: str, path: tuple[str, ...]) -> Span | None:
    """Return the start and end of the value at a path, or None if it is missing."""
    start = _root(text)
    span = (start, _decoder.raw_decode(text, start)[1])
    for key in path:
        members = _members(text, span[0])
        if key not in members:
            return None
        span = members[key][1]
    return span


def _members(text: str, start: int) -> dict[str, tuple[int, Span]]:
    """Return the members of the object at `start`: for each key its start, and the start and end of its value."""
    members: dict[str, tuple[int, Span]] = {}
    position = _skip(text, start + 1)
    while text[start] == "{" and text[position] != "}":
        key_at = position
        key, position = _decoder.raw_decode(text, position)
        value_at = _skip(text, _skip(text, position) + 1)
        _, end = _decoder.raw_decode(text, value_at)
        members[key] = (key_at, (value_at, end))
        position = _behind_comma(text, end)
    return members


def _elements(text: str, start: int) -> list[Span]:
    """Return the start and end of each element of the array at `start`, none if it is not an array."""
    spans = []
    position = _skip(text, start + 1)
    while text[start] == "[" and text[position] != "]":
        _, end = _decoder.raw_decode(text, position)
        spans.append((position, end))
        position = _behind_comma(text, end)
    return spans


def _behind_comma(text: str, position: int) -> int:
    position = _skip(text, position)
    return _skip(text, position + 1) if text[position] == "," else position


def _laid_out(value: Any, depth: int, text: str) -> str:
    lines = json.dumps(value, indent=_indent(text), ensure_ascii=False).split("\n")
    return (_newline(text) + _indent(text) * depth).join(lines)


def _indent(text: str) -> str:
    """Return the text's indentation, two spaces by default."""
    for line in text.split("\n")[1:]:  # other line separators, such as U+2028, may occur inside strings
        content = line.lstrip(" \t")
        if content.strip("\r") and content != line:
            return line[: len(line) - len(content)]
    return "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _root(text: str) -> int:
    return _skip(text, 1 if text.startswith("\ufeff") else 0)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


class PathList:
    """One list: a small JSON file of the data folder."""

    def __init__(self, name: str) -> None:
        self.name = name

    def has(self, data_dir: str, path: str) -> bool:
        """Return whether the list has a path."""
        return path in self._read(data_dir)

    def add(self, data_dir: str, path: str) -> None:
        """Add a path. Raises StorageError."""
        os.makedirs(data_dir, mode=0o700, exist_ok=True)
        self._write(data_dir, {*self._read(data_dir), path})

    def remove(self, data_dir: str, path: str) -> None:
        """Remove a path. Raises StorageError."""
        known = self._read(data_dir)
        if path in known:
            self._write(data_dir, known - {path})

    def _read(self, data_dir: str) -> set[str]:
        try:
            return set(map(str, parse_json(read_regular(os.path.join(data_dir, self.name), SMALL_FILE).decode())))
        except (OSError, ValueError, TypeError):
            return set()  # without a usable list, no file counts as listed

    def _write(self, data_dir: str, paths: set[str]) -> None:
        path = os.path.join(data_dir, self.name)
        if paths:
            write_atomically(path, dump_ascii_json(sorted(paths)).encode())
        else:
            os.unlink(path)


CREATED = PathList("created-settings.json")  # settings files that did not exist before we wrote them
WITHOUT_SKILL = PathList("without-skill.json")  # settings files whose user wants our hooks and not our skill
