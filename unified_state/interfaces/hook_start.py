"""SessionStart as the launcher calls it: a restore that is ready is printed, by a process that loads next to nothing.

The compaction's SubagentStop wrote it (see `keep_ready`). While all that it was made from is as it was, it is printed
and the client goes on. What else a session start does, a detached process does then. Every other start gets the whole
hook.
"""

from __future__ import annotations

import sys
import time

from unified_state.interfaces.client_input import NOT_FOR_QUICK_HOOKS, given_event
from unified_state.lib.stdlib import SMALL_FILE, dump_ascii_json, parse_json, read_regular, set_alarm, system
from unified_state.memory.spool.hook_files import PENDING_FOLDER, RUNS_FOLDER, write_trace
from unified_state.memory.spool.ready_file import READ, archive_version, ready_path
from unified_state.memory.spool.session_way import is_as_it_was, usual_data_dir, way_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EVENT, _BRIEF, _COMPACT = "SessionStart", "brief", "compact"
_BRIEF_ALONE = ("startup", "resume")  # starts for which the second handler never has anything to say
_WHOLE_HOOK = {"agent_id", "timestamp", "cursor_version"}  # a subagent's event, another host's
# Entries that the client writes to a transcript around a compaction, of which nothing is archived.
WORDLESS = ("last-prompt", "atis-latch", "mode", "permission-mode", "file-history-snapshot", "queue-operation")
_ASIDE = ".damaged-"
_PAUSE = 0.3  # seconds in which the other handler of the event prints its part


def main() -> None:
    """Run the hook `SessionStart [PART] [DATA_DIR]` of the process's arguments, and exit the process."""
    started = time.monotonic()
    begin = bytearray()
    printed: dict[str, Any] | None = None
    try:
        event = given_event(begin)
        if event is not None and sys.argv[2] != _BRIEF and event["source"] in _BRIEF_ALONE:
            system._exit(0)  # noqa: SLF001  # as `os` has it; everything is closed
        ready = _ready(event) if event is not None else None
        if ready is not None:
            _print(ready, started)
            if sys.argv[2] != _BRIEF or not _is_detached():
                system._exit(0)  # noqa: SLF001
            printed = ready
    except NOT_FOR_QUICK_HOOKS:
        pass  # the whole hook does it, or reports what is wrong
    from unified_state.interfaces.hook import main as run_hook
    from unified_state.interfaces.tool_hook import give_back

    give_back(bytes(begin))
    run_hook(printed=printed)


def _ready(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the session's ready restore if it is true now, or None."""
    if _WHOLE_HOOK & event.keys() or event["source"] != _COMPACT:
        return None
    session_id, part = event["session_id"], sys.argv[2]
    path = way_path(sys.argv[3] if len(sys.argv) > 3 else usual_data_dir(), session_id)  # noqa: PLR2004
    folder = str(_parsed(path, SMALL_FILE)["folder"]) if path else ""
    ready = _parsed(ready_path(folder, session_id), SMALL_FILE) if folder else {}
    is_true = (
        ready
        and ready["folder"] == folder
        and isinstance(ready["texts"][part], str)
        and ready["version"] == archive_version(ready["archive"])
        and is_as_it_was(ready, event["cwd"])
        and ready["transcript"][0] == event["transcript_path"]
        and _adds_nothing(*ready["transcript"])
        and not _has_problem(folder)
    )
    return ready if is_true else None


def _parsed(path: str, limit: int) -> dict[str, Any]:
    fields: dict[str, Any] = parse_json(read_regular(path, limit).decode("utf-8", "surrogatepass"))
    return fields


def _adds_nothing(path: str, inode: int, offset: int) -> bool:
    """Return whether what the client wrote to a transcript behind an offset has no words and no work."""
    descriptor = system.open(path, READ)
    try:
        found = system.fstat(descriptor)
        if found.st_ino != inode or not 0 <= found.st_size - offset < SMALL_FILE:
            return False
        system.lseek(descriptor, offset, 0)
        added = system.read(descriptor, SMALL_FILE)
    finally:
        system.close(descriptor)
    lines = added.decode("utf-8", "replace").split("\n")
    return not lines.pop() and all(parse_json(entry)["type"] in WORDLESS for entry in lines)


def _has_problem(folder: str) -> bool:
    """Return whether a hook failed, or a damaged file was set aside: the restore tells the user then."""
    for name in system.listdir(f"{folder}/{RUNS_FOLDER}"):
        if parse_json(read_regular(f"{folder}/{RUNS_FOLDER}/{name}", SMALL_FILE).decode())[2]:
            return True
    try:
        names = system.listdir(f"{folder}/{PENDING_FOLDER}")
    except FileNotFoundError:
        names = []
    return any(_ASIDE in name for name in (*names, *system.listdir(folder)))


def _print(ready: dict[str, Any], started: float) -> None:
    """Print a part, and write the trace of this run. Nothing may fail once something was printed, nor be late."""
    set_alarm(0, lambda: None)
    part = sys.argv[2]
    text, line = ready["texts"][part], str(ready["line"]) if part == _BRIEF else ""
    told: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": _EVENT, "additionalContext": text}} if text else {}
    answer = {**told, "systemMessage": line} if line else told
    if part != _BRIEF:  # the detached process writes the other one
        now, spent = int(time.time() * 1000), round((time.monotonic() - started) * 1000)
        write_trace(ready["folder"], f"{_EVENT}.{part}", now, spent)
    content = dump_ascii_json(answer).encode() if answer else b""
    try:
        while content:
            content = content[system.write(1, content) :]
    except OSError:
        return  # the client has gone


def _is_detached() -> bool:
    """Go on in another process, for which the client does not wait. Return True there, and False in this one."""
    try:
        if system.fork():
            return False
    except OSError:
        return False  # the next hook does it
    try:
        system.setsid()
        null = system.open("/dev/null", system.O_RDWR)
        for descriptor in (0, 1, 2):
            system.dup2(null, descriptor)
    except OSError:
        system._exit(0)  # noqa: SLF001  # the next hook does it; this one must print nothing more
    time.sleep(_PAUSE)
    return True
