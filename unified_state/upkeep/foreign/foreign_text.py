"""Read text files of other programs, with limits: whole texts, JSON, lines of JSON, Markdown with fields at its top.

A file that cannot be read at all is a ForeignFileError that names it. A damaged record of a file that its program only
appends to is skipped and counted in the `Tally`, because the rest of such a file is still good.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from unified_state.errors import ForeignFileError
from unified_state.lib.foreign_values import clean_text, is_too_deep
from unified_state.lib.json_text import dump_json, parse_json, parse_object
from unified_state.lib.read_files import open_regular, read_regular
from unified_state.lib.times import to_milliseconds
from unified_state.upkeep.foreign.foreign_files import damaged, unreadable

HEAD = 1 << 16  # bytes by which a format is recognised
_MOST_BYTES, _LONGEST_LINE = 1 << 28, 64 << 20  # of a file that is read whole, and of a line
_MOST_FIELDS = 200  # lines of fields at the top of a note
_BOM = "\ufeff"
_FIELD = re.compile(r"\s*(?:- )?([A-Za-z_][\w-]*):[ \t]*(.*)")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T _](\d\d)[:-](\d\d)(?:[:-](\d\d))?(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?")


class Tally:
    """What was left out of an import: damaged records, with the place of the first, and parts of other projects."""

    def __init__(self) -> None:
        self.skipped, self.first, self.elsewhere = 0, "", 0


class ForeignFile:
    """A file of another program.

    `is_named` says that the user named this very file, so that it belongs to this project whatever it says itself.
    """

    def __init__(self, path: str, tally: Tally, *, worktree: str, is_named: bool) -> None:
        self.path, self.worktree, self.is_named = path, os.path.realpath(worktree), is_named
        self._tally = tally

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return os.path.basename(self.path)

    @property
    def folder(self) -> str:
        """The name of the folder of the file."""
        return os.path.basename(os.path.dirname(os.path.abspath(self.path)))

    def modified(self) -> int:
        """Return the time of the last change in milliseconds since 1970."""
        try:
            return int(os.stat(self.path).st_mtime * 1000)
        except OSError as error:
            raise unreadable(self.path, error) from error

    def text(self) -> str:
        """Return the whole text, with the line ends of Unix. Raises ForeignFileError."""
        try:
            return plain(read_regular(self.path, _MOST_BYTES))
        except OSError as error:
            raise unreadable(self.path, error) from error

    def json(self) -> Any:
        """Return the value of a file of JSON. Raises ForeignFileError."""
        try:
            return parse_json(self.text())
        except (ValueError, RecursionError) as error:
            raise damaged(self.path, error) from error

    def beside(self, name: str) -> Any:
        """Return the value of a JSON file by its path from the same folder, or None if there is no such file of use."""
        try:
            return parse_json(plain(read_regular(os.path.join(os.path.dirname(self.path), name), _MOST_BYTES)))
        except (OSError, ValueError, RecursionError):
            return None

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of a file of JSON lines with their line numbers. Other lines are skipped and counted."""
        try:
            with open_regular(self.path) as file:
                number = 0
                while line := file.readline(_LONGEST_LINE):
                    number += 1
                    is_whole = line.endswith(b"\n") or len(line) < _LONGEST_LINE
                    while not is_whole:
                        more = file.readline(1 << 20)
                        is_whole, line = not more or more.endswith(b"\n"), b"-"
                    found = parse_object(line.decode("utf-8", "replace").removeprefix(_BOM))
                    if found is not None:
                        yield number, found
                    elif line.strip():
                        self.skip(f"line {number}")
        except OSError as error:
            raise unreadable(self.path, error) from error

    def skip(self, place: str) -> None:
        """Count a damaged record, at a place in this file."""
        self._tally.skipped += 1
        self._tally.first = self._tally.first or f"{self.path}, {place}"

    def is_elsewhere(self, folder: str) -> bool:
        """Return whether a part of this file is of another project, which works in that folder, and count it."""
        if self.is_named or not folder or is_inside(folder, self.worktree):
            return False
        self._tally.elsewhere += 1
        return True


def plain(raw: bytes) -> str:
    """Return bytes as text with the line ends of Unix, whatever they are."""
    return raw.decode("utf-8", "replace").removeprefix(_BOM).replace("\r\n", "\n")


def is_inside(folder: str, worktree: str) -> bool:
    """Return whether a folder is the worktree or lies in it."""
    try:
        found = os.path.realpath(folder)
    except (OSError, ValueError):  # a name that no folder can have
        return False
    return found == worktree or found.startswith(worktree.rstrip(os.sep) + os.sep)


def moment(value: object) -> int:
    """Return the milliseconds of the first time in a text, which is UTC unless it says otherwise; 0 without one."""
    found = _MOMENT.search(value) if isinstance(value, str) else None
    if found is None:
        return 0
    day, hour, minute, second, fraction, zone = found.groups()
    return to_milliseconds(f"{day}T{hour}:{minute}:{second or '00'}{(fraction or '')[:4]}{zone or ''}") or 0


def fields_and_body(text: str) -> tuple[dict[str, str], str]:
    """Return the fields between two lines `---` at the top of a note, also nested ones by their own names, and the
    text behind them.
    """
    lines = text.lstrip().split("\n", _MOST_FIELDS + 1)
    if lines[0].rstrip() != "---":
        return {}, text
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return fields, "\n".join(lines[number + 1 :])
        if found := _FIELD.fullmatch(line):
            fields.setdefault(found[1], _unquoted(found[2].strip()))
    return {}, text


def sections(text: str, mark: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return the parts of a text that begin with a line that `mark` matches: its first group or "", and the part.

    The text before the first such line is a part without a name.
    """
    parts, name, start = [], "", 0
    for found in mark.finditer(text):
        parts.append((name, text[start : found.start()].strip()))
        name, start = found[1] if mark.groups else "", found.start()
    return [part for part in [*parts, (name, text[start:].strip())] if part[1]]


def as_json(value: object) -> str:
    """Return a value as JSON, or "" if it is nested too deep to be written."""
    return "" if is_too_deep(value) else clean_text(dump_json(value))


def text_in(value: object, *names: str) -> str:
    """Return the first text in an object under one of these names, or ""."""
    return next(filter(None, (clean_text(value.get(name)) for name in names)), "") if isinstance(value, dict) else ""


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list, or nothing."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def newer(path: str, version: object) -> ForeignFileError:
    """Return the error for a file of a version that is not known here."""
    message = f"{path} has version {clean_text(str(version))[:40]}, which this version cannot read"
    return ForeignFileError(message, "upgrade unified-state, or report the version of that program")


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace('\\"', '"')
    return value
