"""The small files beside the archive that hooks write: a prompt that is only kept, and the trace of each run.

The prompt's hook loads little more than this module. So it calls the system directly: `os` alone takes a fifth of the
time of a bare interpreter to load. A file of the spool is complete from the start, so the hook takes no lock.
"""

from __future__ import annotations

from unified_state.lib.stdlib import SMALL_FILE, dump_json, parse_json, read_regular, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RUNS_FOLDER = "runs"  # beside the archive: a trace for each event
PENDING_FOLDER = "pending"  # likewise: messages that wait for the transcript
QUIET_FOLDER = "quiet"  # likewise: marks of sessions whose next prompt gets no addition
ENDING = ".prompt"
SPOOL_TEMPORARY = f"{ENDING}.tmp"
_AT = "@"  # between the session's name and the time
_MOST, _LONGEST = 4, 600_000  # prompts of a session, milliseconds
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700
_BINARY = getattr(system, "O_BINARY", 0)
_NO_WAITING = getattr(system, "O_NONBLOCK", 0)  # a named pipe in the way is an error
_WRITE_NEW = system.O_WRONLY | system.O_CREAT | system.O_EXCL | _BINARY
_WRITE_OVER = system.O_WRONLY | system.O_CREAT | system.O_TRUNC | _BINARY | _NO_WAITING


def file_name(session_id: str) -> str:
    """Return the name of a session's files."""
    return "".join(character if character.isalnum() or character == "-" else "_" for character in session_id)[:100]


def may_add_to(folder: str, archive_path: str, session_id: str, prompt: str) -> bool:
    """Return False only if nothing is to be added to a prompt: the session has a mark, no process committed to the
    archive since, and the prompt contains none of the mark's names, and none of its words in any case.
    """
    try:
        stamp, names, words = parse_json(read_regular(mark_path(folder, session_id), SMALL_FILE).decode())
        if stamp is None or stamp != archive_stamp(archive_path):
            return True
        small = prompt.lower() if words else ""
        return any(name in prompt for name in names) or any(word in small for word in words)
    except (OSError, ValueError, TypeError):
        return True


def mark_path(folder: str, session_id: str) -> str:
    """Return the path of a session's mark. `folder` is that of the archive."""
    return f"{folder}/{QUIET_FOLDER}/{file_name(session_id)}"


def archive_stamp(path: str) -> list[int] | None:
    """Return numbers that change with every commit, from the archive's file and its log; None without an archive.

    An empty log counts as none: a process that only reads makes and removes one.
    """
    try:
        found = system.stat(path)
    except OSError:
        return None
    try:
        log = system.stat(f"{path}-wal")
    except OSError:
        log = None
    numbers = [log.st_size, log.st_mtime_ns] if log is not None and log.st_size else [0, 0]
    return [found.st_ino, found.st_size, found.st_mtime_ns, *numbers]


def keep_prompt(folder: str, session_id: str, message: list[Any]) -> None:
    """Store a masked message, which is its kind, its text and its time, beside the archive. Raises OSError."""
    below = f"{folder}/{PENDING_FOLDER}"
    path = f"{below}/{file_name(session_id)}{_AT}{message[-1]}-{system.getpid()}{ENDING}"
    temporary = f"{path}.tmp"
    try:
        descriptor = system.open(temporary, _WRITE_NEW, _PRIVATE_FILE)
    except FileNotFoundError:
        system.mkdir(below, _PRIVATE_FOLDER)
        descriptor = system.open(temporary, _WRITE_NEW, _PRIVATE_FILE)
    try:
        content = dump_json(message).encode("utf-8", "surrogatepass")
        while content:
            content = content[system.write(descriptor, content) :]
        system.close(descriptor)
        system.rename(temporary, path)
    except BaseException:
        system.unlink(temporary)
        raise


def kept_prompts(folder: str) -> dict[str, list[str]]:
    """Return the files of the spool by the name of their session, the oldest first."""
    below = f"{folder}/{PENDING_FOLDER}"
    try:
        names = sorted(name for name in system.listdir(below) if name.endswith(ENDING))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.rpartition(_AT)[0], []).append(f"{below}/{name}")
    return found


def is_overdue(folder: str, session_id: str, most: int = _MOST, longest: int = _LONGEST) -> bool:
    """Return whether a session's prompts have been waiting for `longest` milliseconds, or are `most`: its turns ended
    without a Stop.
    """
    kept = kept_prompts(folder).get(file_name(session_id), [])
    return len(kept) >= most or (len(kept) > 1 and _since(kept[-1]) - _since(kept[0]) >= longest)


def _since(path: str) -> int:
    """Return the time of a file of the spool, in milliseconds."""
    return int(path.rpartition(_AT)[2].partition("-")[0])


def write_trace(folder: str, event: str, at: int, milliseconds: int, problem: str | None = None) -> None:
    """Write the trace of an event's last run: its time, its duration, its problem. Raises OSError."""
    path = f"{folder}/{RUNS_FOLDER}/{event}"
    try:
        descriptor = system.open(path, _WRITE_OVER, _PRIVATE_FILE)
    except FileNotFoundError:
        system.mkdir(f"{folder}/{RUNS_FOLDER}", _PRIVATE_FOLDER)
        descriptor = system.open(path, _WRITE_OVER, _PRIVATE_FILE)
    try:
        system.write(descriptor, dump_json([at, milliseconds, problem]).encode("utf-8", "replace"))
    finally:
        system.close(descriptor)
