"""SessionStart as the launcher calls it: a restore that is ready is printed, by a process that loads next to nothing.

The compaction's SubagentStop wrote it (see `keep_ready`), or for another start the last Stop (see `keep_starts`). While
all that it was made from is as it was, it is printed and the client goes on. What else a session start does, a detached
process does then. Every other start gets the whole hook.
"""

from __future__ import annotations

import sys
import time

from unified_state.interfaces.client_input import NOT_FOR_QUICK_HOOKS, given_event
from unified_state.lib.stdlib import SMALL_FILE, dump_ascii_json, parse_json, read_regular, set_alarm, system
from unified_state.memory.spool.hook_files import ENDING, PENDING_FOLDER, RUNS_FOLDER, write_trace
from unified_state.memory.spool.ready_file import (
    adds_nothing,
    archive_version,
    ready_path,
    starts_path,
    starts_way_path,
)
from unified_state.memory.spool.session_way import is_as_it_was, noted_way, read_fields, usual_data_dir, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EVENT, _BRIEF, _COMPACT = "SessionStart", "brief", "compact"
_BRIEF_ALONE = ("startup", "resume")  # starts for which the second handler never has anything to say
_WHOLE_HOOK = {"agent_id", "timestamp", "cursor_version"}  # a subagent's event, another host's
_ASIDE, _WAITING = ".damaged-", (ENDING, ".json")
_NONCE = 6  # bytes
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
    """Return what is ready for this start if it is true now, or None."""
    if _WHOLE_HOOK & event.keys():
        return None
    return (_after_compaction if event["source"] == _COMPACT else _new_start)(event, *sys.argv[3:4])


def _after_compaction(event: dict[str, Any], data_dir: str = "") -> dict[str, Any] | None:
    """Return the session's ready restore if it is true now, or None."""
    session_id, part = event["session_id"], sys.argv[2]
    way = noted_way(session_id, data_dir)
    folder = str(way["folder"]) if way else ""
    ready = read_fields(ready_path(folder, session_id)) if folder else {}
    is_true = (
        ready
        and isinstance(ready["texts"][part], str)
        and _is_true(ready, folder, event["cwd"])
        and ready["transcript"][0] == event["transcript_path"]
        and adds_nothing(*ready["transcript"])
        and not _has_problem(folder)
    )
    return ready if is_true else None


def _new_start(event: dict[str, Any], data_dir: str = "") -> dict[str, Any] | None:
    """Return what the last Stop in this folder kept for such a start if it is true now, or None."""
    path, cwd = starts_way_path(data_dir or usual_data_dir(), event["cwd"]), event["cwd"]
    way = read_fields(path) if path else {}
    if not way or way["cwd"] != cwd:
        return None
    folder = str(way["folder"])
    ready = read_fields(starts_path(folder, cwd))
    pieces, line = ready["starts"][event["source"]]
    is_true = (
        _is_true(ready, folder, cwd)
        and _goes_on(ready, event)
        and all(adds_nothing(*read) for read in ready["transcripts"])
        and not _has_problem(folder, is_waiting=True)
    )
    if not is_true:
        return None
    from unified_state.lib.times import age_text

    nonce, now = system.urandom(_NONCE).hex(), int(time.time() * 1000)
    told = [nonce if one is None else one if isinstance(one, str) else age_text(now, one) for one in pieces]
    texts = {part: "".join(told) if part == _BRIEF else "" for part in (_BRIEF, sys.argv[2])}
    return {**ready, "texts": texts, "line": line, "nonce": nonce}


def _is_true(ready: dict[str, Any], folder: str, cwd: str) -> bool:
    """Return whether the archive and all files that were looked at are as they were."""
    is_same: bool = ready["folder"] == folder and ready["version"] == archive_version(ready["archive"])
    return is_same and is_as_it_was(ready, cwd)


def _goes_on(ready: dict[str, Any], event: dict[str, Any]) -> bool:
    """Return whether this start gets the state of the session that kept it: it is the same one, or a new one without a
    transcript yet. Behind /clear it is the one that the same process ended so.
    """
    if event["source"] == "resume":
        return bool(ready["session"] == event["session_id"] and ready["transcript"] == event["transcript_path"])
    is_cleared = ready["ended"] == "clear" and ready["pid"] == variable("CLAUDE_PID")
    is_new = ready["session"] != event["session_id"] and adds_nothing(event["transcript_path"], None, 0)
    return is_new and (event["source"] == "startup" or is_cleared)


def _has_problem(folder: str, *, is_waiting: bool = False) -> bool:
    """Return whether a hook failed, or a damaged file was set aside: the restore tells the user then. With `is_waiting`
    also whether a message waits for its transcript.
    """
    for name in system.listdir(f"{folder}/{RUNS_FOLDER}"):
        if parse_json(read_regular(f"{folder}/{RUNS_FOLDER}/{name}", SMALL_FILE).decode())[2]:
            return True
    try:
        names = system.listdir(f"{folder}/{PENDING_FOLDER}")
    except FileNotFoundError:
        names = []
    if is_waiting and any(name.endswith(_WAITING) for name in names):
        return True
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
    from unified_state.interfaces.detach import detach

    try:
        if not detach():
            return False
    except OSError:
        return False  # the next hook does it
    time.sleep(_PAUSE)
    return True
