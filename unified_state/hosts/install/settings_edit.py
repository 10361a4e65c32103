"""Edit a host's JSON settings. What is not ours keeps its value and its place, and the text its indentation, because
people keep these files under version control.

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

from unified_state.errors import StorageError, UnifiedStateError
from unified_state.hosts.install.settings_link import file_behind
from unified_state.lib.files import write_atomically
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, read_regular
from unified_state.lib.text import escape_surrogates

Settings = dict[str, Any]
T = TypeVar("T")

_TRIES = 10  # of an edit while other programs write


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


def parsed(text: str) -> Any:
    """Return the value of the text. Raises ValueError if it is not JSON."""
    return json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def laid_out(settings: Settings, before: str | None) -> str:
    """Return settings as text, with the indentation and the line ends of the text before; that text itself if it says
    the same.
    """
    before = before or "{}\n"
    if parsed(before) == settings:
        return before
    text = escape_surrogates(json.dumps(settings, indent=_indent(before), ensure_ascii=False))
    text = text.replace("\n", "\r\n" if "\r\n" in before else "\n")
    return "\ufeff" * before.startswith("\ufeff") + text + before[len(before.rstrip()) :]


def _indent(text: str) -> str | None:
    """Return the text's indentation, two spaces by default; None for settings on one line."""
    for line in text.split("\n")[1:]:  # other line separators, such as U+2028, may occur inside strings
        content = line.lstrip(" \t")
        if content.strip("\r") and content != line:
            return line[: len(line) - len(content)]
    return None if "\n" not in text.strip() and parsed(text) else "  "


def without_handlers(settings: Settings, is_ours: Callable[[Any], bool]) -> Settings:
    """Return the settings without our handlers in their hook lists."""
    for event in settings.get("hooks", {}):
        settings = remove_handlers(settings, event, is_ours)
    return settings


def remove_handlers(settings: Settings, event: str, is_ours: Callable[[Any], bool]) -> Settings:
    """Return the settings without our handlers of an event. A group that has no others goes with them."""

    def left(group: Any) -> list[Any]:
        handlers = group.get("hooks", [group]) if isinstance(group, dict) else None
        if not isinstance(handlers, list) or not any(map(is_ours, handlers)):
            return [group]
        kept = [one for one in handlers if not is_ours(one)]
        return [{**group, "hooks": kept}] if kept else []

    def change(groups: list[Any]) -> list[Any]:
        return [one for group in groups for one in left(group)]

    return _changed(settings, ("hooks", event), change)


def append_entries(settings: Settings, path: tuple[str, ...], entries: list[Any]) -> Settings:
    """Return the settings with entries added to the list at a path. Missing lists and objects on the path are made."""
    key, *rest = path
    inner = settings.get(key, {} if rest else [])
    return {**settings, key: append_entries(inner, tuple(rest), entries) if rest else [*inner, *entries]}


def remove_entries(settings: Settings, path: tuple[str, ...], is_unwanted: Callable[[Any], bool]) -> Settings:
    """Return the settings without unwanted entries of the list at a path."""
    return _changed(settings, path, lambda entries: [entry for entry in entries if not is_unwanted(entry)])


def _changed(settings: Settings, path: tuple[str, ...], change: Callable[[list[Any]], list[Any]]) -> Settings:
    """Return the settings with the list at a path changed, if there is one. A list that becomes empty goes, and so do
    objects above it.
    """
    key, *rest = path
    if key not in settings:
        return settings
    before = settings[key]
    now = _changed(before, tuple(rest), change) if rest else change(before)
    if now or now == before:
        return {**settings, key: now}
    return {name: value for name, value in settings.items() if name != key}


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
