"""The filters that git's configuration files define, parsed as git parses them but without running git.

Invariant: every filter that git would find in these files is found here. An error is raised where that cannot be
guaranteed (a file that cannot be read, or that git itself would refuse). The result may have more filters than git
uses, because every conditional include is followed.
"""

from __future__ import annotations

import os

from unified_state.lib.stdlib import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_BYTES = 1 << 20  # of all files together
_MOST_FILES = 200
_SPACE = " \t\r\n"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_KEY = _LETTERS | frozenset("0123456789-")
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"', "\n": ""}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_RELEVANT = (b"filter", b"include", b"worktree")  # a file without any of these words is skipped


class ConfigError(Exception):
    """The configuration of git cannot be parsed as git does; the message has the file and the reason."""


class GitConfig:
    """The definitions in all files read so far: the names of `filters`, and the values of `core.worktree` in
    `worktrees`.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.filters: set[str] = set()
        self.worktrees: list[str] = []
        self._home = environ.get("HOME", "")
        self._left = _MOST_BYTES
        self._files: set[str] = set()

    def read(self, path: str) -> None:
        """Parse a file and the files that it includes. A missing file counts as empty. Raises ConfigError."""
        waiting = [path]
        while waiting:
            path = waiting.pop()
            if path not in self._files:
                self._files.add(path)
                waiting += self._take(path, self._content(path))

    def define(self, variable: str, value: str) -> None:
        """Add one variable that comes from the environment, not from a file. Raises ConfigError."""
        section, _, rest = variable.partition(".")
        middle, dot, key = rest.rpartition(".")
        name = f"{section.lower()}.{middle}{dot}{key.lower()}"
        for path in self._included(name, value, os.sep):
            self.read(path)

    def _content(self, path: str) -> bytes:
        try:
            with open_regular(path) as file:
                content = file.read(self._left + 1)
        except (FileNotFoundError, NotADirectoryError):
            return b""
        except OSError as error:
            if path == os.devnull:
                return b""
            message = f"{path!r}: {error.strerror}"
            raise ConfigError(message) from error
        self._left -= len(content)
        if self._left < 0 or len(self._files) > _MOST_FILES:
            message = f"{path}: more than {_MOST_BYTES >> 20} MiB or {_MOST_FILES} files of configuration"
            raise ConfigError(message)
        return content

    def _take(self, path: str, content: bytes) -> list[str]:
        lowered = content.lower()
        if not any(word in lowered for word in _RELEVANT):
            return []
        try:
            return [
                found
                for variable, value in variables(os.fsdecode(content.removeprefix(_BYTE_ORDER_MARK)))
                for found in self._included(variable, value, path)
            ]
        except (ConfigError, UnicodeDecodeError) as error:  # UnicodeDecodeError occurs only on Windows
            message = f"{path}: {error}"
            raise ConfigError(message) from None

    def _included(self, variable: str, value: str | None, path: str) -> list[str]:
        """Store the filter or worktree that a variable defines. Return the files that it includes, resolved against
        `path`.
        """
        variable = variable.partition("\0")[0]  # git ends a variable at a NUL
        value = (value or "").partition("\0")[0]
        section, _, rest = variable.partition(".")
        name, dot, key = rest.rpartition(".")
        if section == "filter" and dot:
            self.filters.add(name)
        elif variable == "core.worktree":
            self.worktrees.append(value)
        elif key == "path" and section in ("include", "includeif") and value:
            folder = os.path.dirname(path)
            spellings = {value, value.translate(dict.fromkeys(map(ord, _SPACE), " "))}  # depends on the version of git
            return [os.path.join(folder, self._expanded(spelling)) for spelling in spellings]
        return []

    def _expanded(self, path: str) -> str:
        if path.startswith("%(prefix)"):
            message = f"it includes {path}, and only git knows where that is"
            raise ConfigError(message)
        if path == "~" or path.startswith("~/"):
            return self._home + path[1:]
        return os.path.expanduser(path) if path.startswith("~") else path


def variables(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield each variable of a file as `section.subsection.key` with its value, or None for a key without one.

    Section and key are in lower case, as in git. Raises ConfigError where git would refuse the file.
    """
    text = text.replace("\r\n", "\n") + "\n\n"  # so that a character follows any escape
    section, at = "", 0
    while at < len(text):
        character = text[at]
        if character in _SPACE:
            at += 1
        elif character in "#;":
            at = text.index("\n", at)
        elif character == "[":
            section, at = _section(text, at + 1)
        elif character in _LETTERS:
            end = at
            while text[end] in _KEY:
                end += 1
            value, after = _value(text, end)
            yield section + text[at:end].lower(), value
            at = after
        else:
            raise _refused(text, at)


def _section(text: str, at: int) -> tuple[str, int]:
    """Return the name of a section with a dot appended, and the position after its header."""
    end = at
    while text[end] in _KEY or text[end] == ".":
        end += 1
    name = text[at:end].lower()
    if text[end] == "]" and name:
        return f"{name}.", end + 1
    while text[end] in " \t\r":
        end += 1
    if text[end] != '"' or text[end - 1] not in _SPACE:
        raise _refused(text, at)
    subsection, end = [], end + 1
    while text[end] != '"':
        end += text[end] == "\\"
        if text[end] == "\n":
            raise _refused(text, at)
        subsection.append(text[end])
        end += 1
    if text[end + 1] != "]":
        raise _refused(text, at)
    return f"{name}.{''.join(subsection)}.", end + 2


def _value(text: str, at: int) -> tuple[str | None, int]:
    """Return the value of a key, and the position of the end of its line."""
    while text[at] in " \t":
        at += 1
    if text[at] == "\n":
        return None, at
    if text[at] != "=":
        raise _refused(text, at)
    value, space, quoted = "", "", False
    while True:
        at += 1
        character = text[at]
        if character in "\n#;" and not quoted:
            return value, text.index("\n", at)
        if character in _SPACE and not quoted:
            space += character if value else ""
            continue
        if character == '"':
            quoted, character = not quoted, ""
        elif character == "\\":
            at += 1
            character = _escaped(text, at)
        elif character == "\n":
            raise _refused(text, at)
        value, space = value + space + character, ""


def _escaped(text: str, at: int) -> str:
    """Return the character that a backslash and the character after it denote. Raises ConfigError."""
    if text[at] not in _ESCAPES:
        raise _refused(text, at)
    return _ESCAPES[text[at]]


def _refused(text: str, at: int) -> ConfigError:
    return ConfigError(f"bad config line {text.count(chr(10), 0, at) + 1}")
