"""Which program wrote a file, and the records that are in it: one reader a format."""

from __future__ import annotations

import os

from unified_state.errors import ForeignFileError
from unified_state.lib.stdlib import parse_json
from unified_state.memory.history.history_file import Header, is_history, is_sealed, read_history
from unified_state.upkeep.exchange.formats import claude_flow, claude_mem, state_snapshot
from unified_state.upkeep.exchange.formats.foreign_database import MAGIC, ForeignDatabase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unified_state.model.history_records import HistoryRecord

HISTORY, TRANSCRIPT = "unified-state history", "transcript"
FLOW_DATABASE, FLOW_JSON = "claude-flow database", "claude-flow JSON"
MEM_DATABASE, STATE = "claude-mem database", "state file"
_HEAD, _LONGEST_LINE = 1 << 20, 1 << 28
_HINT = "the documentation tells what can be imported"


def find_format(path: str) -> str:
    """The format of a file, by its content. Raises ForeignFileError where it is none that is known."""
    if os.path.exists(path) and not os.path.isfile(path):
        message = f"{path} is no file"  # but a pipe, for instance, which can be read only once
        raise ForeignFileError(message, "write what it gives into a file, and name that")
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
            text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
            if text.startswith(b"{") and b"\n" not in text:  # a first line of megabytes
                text += file.readline(_LONGEST_LINE)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise ForeignFileError(message, "name a file that you may read") from error
    if head.startswith(MAGIC):
        return _database_format(path)
    if text.startswith(b"["):
        return FLOW_JSON
    line = text.split(b"\n", 1)[0]
    if is_history(line):
        return HISTORY
    if text.startswith(b"{"):
        return TRANSCRIPT if _is_entry(line) else STATE
    message = f"{path} is {'empty' if not head else 'of no format that is known here'}"
    raise ForeignFileError(message, _HINT)


def open_records(form: str, path: str, project: str) -> Iterator[HistoryRecord]:
    """The records of a file of that format. `project` is what claude-mem calls this one."""
    match form:
        case "claude-flow database":
            return claude_flow.read_database(path)
        case "claude-flow JSON":
            return claude_flow.read_json(path)
        case "claude-mem database":
            return claude_mem.read_database(path, project)
        case "state file":
            return state_snapshot.read_snapshot(path)
    return (record for record in read_history(path) if not isinstance(record, Header))


def is_exported_from(project: str, path: str, seal: Callable[[str], str]) -> bool:
    """Whether a history file that was read to its end is an export of that project, by who can seal so."""
    header = next(read_history(path))
    return isinstance(header, Header) and header.project == project and is_sealed(path, seal)


def _database_format(path: str) -> str:
    with ForeignDatabase(path) as database:
        if database.columns(claude_flow.TABLE):
            return FLOW_DATABASE
        if database.columns(claude_mem.TABLE):
            return MEM_DATABASE
        is_ours = database.columns("step") and database.columns("item")
    message = f"{path} is {'an archive of unified-state' if is_ours else 'a database of no program that is known here'}"
    hint = "export it there with `unified-state export --full FILE`, and import that file" if is_ours else _HINT
    raise ForeignFileError(message, hint)


def _is_entry(line: bytes) -> bool:
    """Whether a line is a transcript's: a whole object, of a type or of one of Gemini CLI's projects."""
    try:
        entry = parse_json(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and ("type" in entry or "projectHash" in entry)
