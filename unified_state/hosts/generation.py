"""The generation of an archive: a random text in a file beside it, and the sessions whose prompts need no addition.

Whoever commits something that a hook may add to a prompt ends the generation, inside the transaction and before the
commit. Whoever notes that a session needs no addition looks inside a transaction too, so no writer is between the two.
The gate (`interfaces/gate.sh`) compares texts, never times: a generation that ended never comes back.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache

from unified_state.lib.files import make_room, write_note
from unified_state.lib.read_files import SMALL_FILE, read_regular

GENERATION, QUIET_FOLDER = "generation", "quiet"  # beside the archive; in the data folder
_REPOSITORIES = "repositories"  # in the data folder
_DIGITS = 16  # bytes
# The tables with what a hook adds to prompts of this session or of others. A new session counts too, and not what a
# turn's end writes of a known one.
_ADDED = frozenset(("compaction", "item", "item_alias", "item_link", "news", "tombstone"))
_NEW_ROW, _SESSION = "INSERT", "session"


@lru_cache(500)  # an import runs the same few statements a million times
def ends_generation(sql: str) -> bool:
    """Return whether a statement writes something that a hook may add to a prompt."""
    verb, table = written_table(sql)
    return table in _ADDED or (table == _SESSION and verb == _NEW_ROW)


def written_table(sql: str) -> tuple[str, str]:
    """Return what a statement does, and the table that it writes; "" for one that only reads."""
    words = sql.replace("(", " ").split(maxsplit=5)
    verb = words[0].upper() if words else ""
    if verb == "UPDATE":
        return verb, words[1]
    before = {"INSERT": "INTO", "REPLACE": "INTO", "DELETE": "FROM"}.get(verb, "")
    return (verb, words[words.index(before) + 1]) if before in words else (verb, "")


def end_generation(folder: str) -> None:
    """End the generation of the archive in a folder: each prompt may need an addition. Raises OSError."""
    with suppress(FileNotFoundError):  # no session was noted since it ended
        os.unlink(f"{folder}/{GENERATION}")  # an archive in memory has no folder


def note_quiet(folder: str, data_dir: str, session_id: str) -> None:
    """Note that a session's next prompt needs no addition from the archive of a folder.

    Call it in the transaction in which that was read.
    """
    path, (repositories, name) = quiet_path(data_dir, session_id), os.path.split(folder)
    if not path or repositories != os.path.join(data_dir, _REPOSITORIES) or "\n" in name:
        return  # the gate would not find the archive
    if not os.path.exists(path):
        make_room(os.path.dirname(path))
    write_note(path, os.fsencode(f"{name}\n{_present(folder)}\n"))


def drop_quiet(data_dir: str, session_id: str) -> None:
    """Note that a session's next prompt may need an addition. Raises OSError."""
    with suppress(FileNotFoundError):  # also for an id that is no name of a file
        os.unlink(quiet_path(data_dir, session_id))


def quiet_path(data_dir: str, session_id: str) -> str:
    """Return the path of a session's note, or "" for an id that is no name of a file."""
    plain = session_id.replace("-", "")
    is_plain = plain.isascii() and plain.isalnum() and len(session_id) <= 100  # noqa: PLR2004  # what file systems take
    return os.path.join(data_dir, QUIET_FOLDER, session_id) if is_plain else ""


def _present(folder: str) -> str:
    """Return the generation of the archive in a folder, which begins here if the last one ended."""
    path = os.path.join(folder, GENERATION)
    try:
        return read_regular(path, SMALL_FILE).decode("ascii").rstrip("\n")
    except FileNotFoundError:
        begun = os.urandom(_DIGITS).hex()
        write_note(path, f"{begun}\n".encode())
        return begun
