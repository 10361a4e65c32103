"""Edit a host's JSON settings. What is not ours keeps its value and its place, and the text its indentation, because
people keep these files under version control.

A path of object keys names a position. The text must be a valid JSON object. It may begin with a byte order mark, which
editors on Windows write. A file that holds nothing without our entries goes.

People who keep their settings in one folder have a symlink here. It stays, and its target is written. A link that came
with a repository must not lead out of it: the repository would choose which file of the user's is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from unified_state.errors import StorageError, UnifiedStateError
from unified_state.lib.files import lies_in, write_atomically
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.text import escape_surrogates
from unified_state.project.git_command import run_git
from unified_state.settings import database_home, environment

Settings = dict[str, Any]

_TRIES = 10  # of an edit while other programs write
_EMPTY: tuple[Settings, ...] = ({}, {"version": 1})  # settings that say nothing
_SECONDS = 10.0  # for git
_LINK = "120000 "  # the mode of a symlink in git's index


def read_settings(path: str) -> Settings:
    """Return a host's settings, which are empty if there is no file. Raises UnifiedStateError if they cannot be edited
    safely.
    """
    return _read(path)[1]


def _read(path: str) -> tuple[str | None, Settings]:
    """Return the text of a settings file, or None if there is none, and its settings."""
    try:
        text = read_regular(path, LARGE_FILE).decode()
    except FileNotFoundError:
        return None, {}
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
        hint = "nothing was changed; `hooks` holds lists by event, `permissions.allow` is a list"
        raise UnifiedStateError(message, hint)
    return text, settings


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


def edited(path: str, change: Callable[[Settings], Settings]) -> tuple[str | None, str | None]:
    """Return the text of a settings file before and after a change of its settings. None stands for no file."""
    before, present = _read(path)
    settings = change(present)
    if settings == present:
        return before, before
    return before, None if settings in _EMPTY else laid_out(settings, before or "{}\n")


def edit_settings(path: str, change: Callable[[Settings], Settings]) -> bool:
    """Change a settings file, and return whether it is another one now. The change is made again if another program,
    such as the client, wrote the file meanwhile.
    """
    for _ in range(_TRIES):
        before, after = edited(path, change)
        if before == after:
            return False
        if _put(file_behind(path), before, after):
            return True
    message = f"{path} was changed by another program while it was edited"
    raise StorageError(message, "nothing was changed; try again")


def _put(path: str, before: str | None, text: str | None) -> bool:
    """Replace the file, or delete it (None), and return True, if it is as it was before."""

    def is_unchanged() -> bool:
        try:
            return read_regular(path, LARGE_FILE).decode("utf-8", "replace") == before
        except FileNotFoundError:
            return before is None

    if text is not None:
        return write_atomically(path, text.encode(), last_look=is_unchanged)
    if not is_unchanged():
        return False
    os.unlink(path)
    return True


def file_behind(path: str) -> str:
    """Return the file to write for a settings file. Raises UnifiedStateError for a link that came with a repository and
    leads out of it.
    """
    real, written = os.path.realpath(path), Path(os.path.abspath(path))
    top = next((folder for folder in written.parents if os.path.lexists(folder / ".git")), None)
    if top is None or any(lies_in(one, os.path.realpath(top)) for one in (real, os.path.realpath(database_home()))):
        return real  # a repository that holds the home is the user's own; `HOME` may be set by a project
    inside = [one for one in (written, *written.parents) if top in one.parents]
    links = [str(one.relative_to(top)) for one in inside if one.is_symlink()]
    if links and _may_be_tracked(str(top), links):
        message = f"{path} is a link of this repository, and leads out of it to {real}"
        raise UnifiedStateError(message, "nothing was changed; replace the link by a file of your own")
    return real


def _may_be_tracked(top: str, links: list[str]) -> bool:
    """Return whether git has one of these links in its index, or does not say."""
    question = ("ls-files", "--stage", "-z", "--", *(f":(literal){link}" for link in links))
    known = run_git(top, question, environment(), monotonic() + _SECONDS)
    return known is None or any(entry.startswith(_LINK) for entry in known.split("\0"))


def parsed(text: str) -> Any:
    """Return the value of the text; an empty one has no settings. Raises ValueError if it is not JSON."""
    return json.loads(text.removeprefix("\ufeff").strip() or "{}", parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def laid_out(settings: Settings, before: str) -> str:
    """Return settings as text, with the indentation and the line ends of the text before."""
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
    """Return the settings without our handlers in their hook lists. A group that has no others goes with them."""

    def left(group: Any) -> list[Any]:
        handlers = group.get("hooks", [group]) if isinstance(group, dict) else None
        if not isinstance(handlers, list) or not any(map(is_ours, handlers)):
            return [group]
        kept = [one for one in handlers if not is_ours(one)]
        return [{**group, "hooks": kept}] if kept else []

    for event in settings.get("hooks", {}):
        settings = _changed(settings, ("hooks", event), lambda groups: [one for group in groups for one in left(group)])
    return settings


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
