"""Recognise the program that wrote a file or a folder, and read its records. Extras have the formats of others.

Each is a module with a `NAME`. Of texts it has `told`, which recognises a file, or it `TAKES_LISTS`, any list of JSON;
`read` yields the records of a `ForeignFile`. Of databases it has a `TABLE` that no other has, and `read_database`.

In a folder, every file of a format counts, and other files do not. Links in it are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from unified_state.errors import ForeignFileError
from unified_state.extension import parts
from unified_state.lib.json_text import parse_object
from unified_state.lib.read_files import open_regular
from unified_state.lib.record import Record
from unified_state.model.history_records import HistoryRecord
from unified_state.upkeep.exchange.foreign_files import (
    HEAD,
    MAGIC,
    ForeignFile,
    Tally,
    foreign_database,
    plain,
    unreadable,
)
from unified_state.upkeep.history.history_file import Header, is_history, read_history

HISTORY, TRANSCRIPT, STATE = "unified-state history", "transcript", "state file"
_HEAD, _LONGEST_LINE = 1 << 20, 1 << 28
_HINT = "the documentation tells what can be imported"
# What files have that are refused by name, what they are, and what to do instead.
_REFUSED = (
    ((b'"display"', b'"pastedContents"'), "Claude Code's list of prompts", "import ~/.claude/projects"),
    ((b'"session_id"', b'"ts"', b'"text"'), "Codex's list of prompts", "import ~/.codex/sessions"),
    ((b'"chat_messages"',), "an export of claude.ai", "its conversations belong to no project"),
)
_ENDINGS = (".md", ".json", ".jsonl")  # of a folder's files
_NOT_ENTERED = frozenset({".git", "node_modules"})
# What a line of an agent's transcript has beside its type.
_ENTRY_FIELDS = (b'"sessionId"', b'"uuid"', b'"leafUuid"', b'"payload"', b'"projectHash"', b'"snapshot"')


@cache
def _formats() -> dict[str, Any]:
    """Return the modules of all formats by their names, in the order in which they are tried."""
    found = [import_module(name) for names in parts("FORMATS") for name in names]
    return {module.NAME: module for module in found}


class Source(Record):
    """What is imported as one: a path that the user named, a format, and the files of that format there."""

    path: str
    format: str
    files: tuple[str, ...]


def find_sources(path: str) -> list[Source]:
    """Return what a file or a folder holds, a source a format. Raises ForeignFileError for an unknown format.

    A folder with transcripts of an agent is one source of transcripts, and so is one without anything that is known.
    """
    if not os.path.isdir(path):
        return [Source(path, find_format(path), (path,))]
    found: dict[str, list[str]] = {}
    for file in _files_in(path):
        form = _format_in_folder(file)
        if form == TRANSCRIPT:
            return [Source(path, TRANSCRIPT, (path,))]
        if form:
            found.setdefault(form, []).append(file)
    return [Source(path, form, tuple(files)) for form, files in found.items()] or [Source(path, TRANSCRIPT, (path,))]


def _files_in(path: str) -> Iterator[str]:
    """Yield the files of a folder that may be of a format, in the order of their names."""
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(set(folders) - _NOT_ENTERED)
        for name in sorted(names):
            file = os.path.join(folder, name)
            if name.endswith(_ENDINGS) and os.path.isfile(file) and not os.path.islink(file):
                yield file


def _format_in_folder(path: str) -> str | None:
    try:
        with open_regular(path) as file:
            raw = file.read(HEAD)
    except OSError as error:
        raise unreadable(path, error) from error
    form = _format_of_text(raw, path)
    line = raw.split(b"\n", 1)[0]
    if form is None and path.endswith(".jsonl") and b'"type"' in line and any(name in line for name in _ENTRY_FIELDS):
        return TRANSCRIPT
    return form


def _format_of_text(raw: bytes, path: str) -> str | None:
    head = plain(raw[:HEAD]).lstrip()
    return _format_with("told", lambda told: told(head, path))


def _format_with(name: str, fits: Callable[[Any], bool]) -> str | None:
    """Return the first format whose module has such a member that fits."""
    formats = _formats().items()
    return next((form for form, module in formats if hasattr(module, name) and fits(getattr(module, name))), None)


def find_format(path: str) -> str:
    """Return the format of a file by its content. Raises ForeignFileError for an unknown format."""
    if os.path.exists(path) and not os.path.isfile(path):
        message = f"{path} is no file"  # for example a pipe, which can be read only once
        raise ForeignFileError(message, "write what it gives into a file, and name that")
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD)
            text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
            if text.startswith(b"{") and b"\n" not in text:  # a first line of megabytes
                text += file.readline(_LONGEST_LINE)
    except OSError as error:
        raise unreadable(path, error) from error
    if head.startswith(MAGIC):
        return _database_format(path)
    if form := _format_of_text(head, path):
        return form
    line = text.split(b"\n", 1)[0]
    if is_history(line):
        return HISTORY
    if "type" in (parse_object(line) or {}) or b'"projectHash"' in text[:HEAD]:
        return TRANSCRIPT
    _refuse_by_name(path, text[:HEAD])
    if text.startswith((b"[", b"{")):
        form = STATE if text.startswith(b"{") else _format_with("TAKES_LISTS", bool)
        if form:
            return form
    message = f"{path} is {'empty' if not head else 'of no format that is known here'}"
    raise ForeignFileError(message, _HINT)


def _refuse_by_name(path: str, head: bytes) -> None:
    for signs, what, hint in _REFUSED:
        if all(sign in head for sign in signs):
            message = f"{path} is {what}, which is not imported"
            raise ForeignFileError(message, hint)


def open_records(source: Source, project: str, worktree: str, tally: Tally) -> Iterator[HistoryRecord]:
    """Return the records of a source. `project` is claude-mem's name of this project, and `tally` counts what is left
    out.

    Of a folder, a file that cannot be read is skipped and counted: the user did not name it.
    """
    for path in source.files:
        if source.format == HISTORY:
            yield from (record for record in read_history(path) if not isinstance(record, Header))
            continue
        module = _formats()[source.format]
        if hasattr(module, "TABLE"):
            yield from module.read_database(path, project)
            continue
        file = ForeignFile(path, tally, worktree=worktree, is_named=path == source.path)
        try:
            yield from module.read(file)
        except ForeignFileError:
            if file.is_named:
                raise
            file.skip("the whole file")


def _database_format(path: str) -> str:
    with foreign_database(path) as database:
        if form := _format_with("TABLE", lambda table: bool(database.columns(table))):
            return form
        is_ours = database.columns("step") and database.columns("item")
        is_opencodes = database.columns("session") and database.columns("part")
    if is_opencodes:
        message = f"{path} is opencode's database, which is not imported"
        raise ForeignFileError(message, "`unified-state install --host opencode` archives its sessions from now on")
    message = f"{path} is {'an archive of unified-state' if is_ours else 'a database of no program that is known here'}"
    hint = "export it there with `unified-state export --full FILE`, and import that file" if is_ours else _HINT
    raise ForeignFileError(message, hint)
