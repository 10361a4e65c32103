"""Recognise the program that wrote a file, and read its records. Each format has a row of a table and one function."""

from __future__ import annotations

import os

from unified_state.errors import ForeignFileError
from unified_state.lib.stdlib import open_regular, parse_json
from unified_state.memory.history.history_file import Header, is_history, is_sealed, read_history
from unified_state.upkeep.exchange import claude_flow, claude_mem, state_snapshot
from unified_state.upkeep.exchange.foreign_files import MAGIC, foreign_database, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unified_state.model.history_records import HistoryRecord

HISTORY, TRANSCRIPT = "unified-state history", "transcript"
_FLOW_JSON, _STATE = "claude-flow JSON", "state file"
# A table that only the database of one program has.
_DATABASES = {claude_flow.TABLE: "claude-flow database", claude_mem.TABLE: "claude-mem database"}
# The reader of a format, called with the path and claude-mem's name of the project.
_READERS: dict[str, Callable[[str, str], Iterator[HistoryRecord]]] = {
    "claude-flow database": lambda path, _: claude_flow.read_database(path),
    "claude-mem database": claude_mem.read_database,
    _FLOW_JSON: lambda path, _: claude_flow.read_json(path),
    _STATE: lambda path, _: state_snapshot.read_snapshot(path),
    HISTORY: lambda path, _: (record for record in read_history(path) if not isinstance(record, Header)),
}
_HEAD, _LONGEST_LINE = 1 << 20, 1 << 28
_HINT = "the documentation tells what can be imported"


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
    if text.startswith(b"["):
        return _FLOW_JSON
    line = text.split(b"\n", 1)[0]
    if is_history(line):
        return HISTORY
    if text.startswith(b"{"):
        return TRANSCRIPT if _is_entry(line) else _STATE
    message = f"{path} is {'empty' if not head else 'of no format that is known here'}"
    raise ForeignFileError(message, _HINT)


def open_records(form: str, path: str, project: str) -> Iterator[HistoryRecord]:
    """Return the records of a file in a format. `project` is claude-mem's name of this project."""
    return _READERS[form](path, project)


def is_exported_from(project: str, path: str, seal: Callable[[str], str]) -> bool:
    """Return whether a history file, already read to its end, is an export of that project, sealed with its key."""
    header = next(read_history(path))
    return isinstance(header, Header) and header.project == project and is_sealed(path, seal)


def _database_format(path: str) -> str:
    with foreign_database(path) as database:
        for table, form in _DATABASES.items():
            if database.columns(table):
                return form
        is_ours = database.columns("step") and database.columns("item")
    message = f"{path} is {'an archive of unified-state' if is_ours else 'a database of no program that is known here'}"
    hint = "export it there with `unified-state export --full FILE`, and import that file" if is_ours else _HINT
    raise ForeignFileError(message, hint)


def _is_entry(line: bytes) -> bool:
    """Return whether a line is an entry of a transcript: an object with a type, or one of Gemini CLI's project
    lines.
    """
    try:
        entry = parse_json(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and ("type" in entry or "projectHash" in entry)
