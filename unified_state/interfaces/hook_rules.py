"""The hook before tool calls as the launcher calls it: it ends at once if no enforced constraint may match the call.

It finds the archive by the session's way (see `session_way`), and reads the table. Every other call gets the whole
check, and so does a table that is missing or damaged. Invariant: it answers nothing.
"""

from __future__ import annotations

import sys
from stat import S_ISLNK
from zlib import crc32

from unified_state.constraints.rules.quick_match import edited_file, may_match, may_run_us
from unified_state.interfaces.client_input import NOT_FOR_QUICK_HOOKS, given_event
from unified_state.lib.stdlib import SMALL_FILE, parse_json, read_regular, system
from unified_state.memory.spool.hook_files import RUNS_FOLDER
from unified_state.memory.spool.session_way import is_as_it_was, may_have_moved, noted_way, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TABLE = "enforced.json"  # as `constraint_table` has it, which loads more
_EVENT = "PreToolUse"
_MODES = ("warn", "ask", "deny")


def main() -> None:
    """Run the hook `[DATA_DIR]` of the process's arguments, and exit the process."""
    begin = bytearray()
    try:
        event = given_event(begin)
        if event is not None and _is_free(event):
            system._exit(0)  # noqa: SLF001  # as `os` has it; everything is closed
    except NOT_FOR_QUICK_HOOKS:
        pass  # the whole check does it, or reports what is wrong
    from unified_state.interfaces.hook_tool_use import main as check
    from unified_state.interfaces.tool_hook import give_back

    give_back(bytes(begin))
    check()


def _is_free(event: dict[str, Any]) -> bool:
    """Return whether no constraint may match a call. A recorded problem of an earlier run is removed then."""
    way, project = noted_way(event["session_id"], *sys.argv[1:2]), variable("CLAUDE_PROJECT_DIR")
    if not way or not is_as_it_was(way, project or event["cwd"]):
        return False
    if project and may_have_moved(project, event["transcript_path"]):
        return False
    folder, tool, given = str(way["folder"]), event["tool_name"], event["tool_input"]
    if not isinstance(given, dict) or may_run_us(given.get("command")):
        return False
    edited = edited_file(tool, given, event["cwd"])
    edited = "" if edited and _has_link(edited) else edited
    for constraint in _constraints(folder):
        if constraint["mode"] not in _MODES or may_match(constraint, tool, given, edited):
            return False
    _remove_trace(f"{folder}/{RUNS_FOLDER}/{_EVENT}")
    return True


def _has_link(path: str) -> bool:
    """Return whether a symlink is on the way to a path, also as its last part."""
    at = path.find("/", 1)
    try:
        while at > 0:
            if S_ISLNK(system.lstat(path[:at]).st_mode):
                return True
            at = path.find("/", at + 1)
        return S_ISLNK(system.lstat(path).st_mode)
    except FileNotFoundError:
        return False  # there is nothing yet, so no link either


def _remove_trace(path: str) -> None:
    try:
        system.unlink(path)
    except FileNotFoundError:
        return  # there is rarely one


def _constraints(folder: str) -> list[dict[str, Any]]:
    """Return the table's constraints. Raises ValueError for a damaged table, as the whole check finds it."""
    checksum, _, content = read_regular(f"{folder}/{_TABLE}", SMALL_FILE).partition(b"\n")
    if checksum != f"{crc32(content):08x}".encode():
        message = "the table is damaged"
        raise ValueError(message)
    fields = parse_json(content.decode())
    found: list[dict[str, Any]] = fields["constraints"]
    return found if isinstance(fields["stamp"], str) else [{"mode": ""}]
