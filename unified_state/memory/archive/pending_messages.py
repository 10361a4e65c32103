"""Messages that a hook was told of and that the transcript may never hold.

The client writes its transcript in batches, about 100 ms late. A prompt is known to its hook before that, and so is the
last message of a turn; a client that is killed in between loses them. Each session's are kept in a small file, which
costs less than a commit, until the transcript has them. Who reads messages to write them anew holds `pending_lock`:
the hook of a turn that ended may still be at work when the next prompt comes.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.lib.files.atomic_file import write_note
from unified_state.lib.files.file_lock import FileLock
from unified_state.lib.record import Record
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.model.step import PROMPT, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive

PENDING_FOLDER = "pending"
_ENDING = ".json"
_LOCK_SECONDS = 4.0  # a holder archives a message at most, which waits for the archive's own writers


class Pending(Record):
    """A message that is not in the archive yet: its step's kind, its masked text, when it was said."""

    kind: str
    text: str
    at: int


def pending_lock(archive: Archive) -> FileLock:
    """Held by the one process that reads pending messages and writes them anew."""
    return FileLock(_folder(archive) + ".lock", _LOCK_SECONDS)


def sessions_with_pending(archive: Archive) -> list[str]:
    """The sessions that have pending messages, by the names that `read_pending` takes."""
    try:
        names = sorted(os.listdir(_folder(archive)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)]


def read_pending(archive: Archive, session_id: str) -> list[Pending]:
    """The pending messages of a session, in order. A damaged file is set aside: the transcript nearly always has all
    of it.
    """
    path = _path(archive, session_id)
    try:
        with open(path, encoding="utf-8", errors="surrogatepass") as file:
            return [_checked(*fields) for fields in parse_json(file.read())]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (ValueError, TypeError):
        os.rename(path, f"{path}.damaged-{os.urandom(4).hex()}")
        return []
    except OSError as error:
        message = f"the pending messages {path} cannot be read: {error.strerror}"
        raise StorageError(message, "make the file readable") from error


def _checked(kind: Any, text: Any, at: Any) -> Pending:
    if kind not in {PROMPT, TEXT} or not isinstance(text, str) or not isinstance(at, int):
        raise TypeError(kind)
    return Pending(kind, text, at)


def write_pending(archive: Archive, session_id: str, messages: list[Pending]) -> None:
    """Keep the pending messages of a session; none, and the file goes."""
    path = _path(archive, session_id)
    if messages:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        content = dump_json([[message.kind, message.text, message.at] for message in messages])
        write_note(path, content.encode("utf-8", "surrogatepass"))
    elif os.path.exists(path):
        os.unlink(path)


def _folder(archive: Archive) -> str:
    return os.path.join(archive.folder, PENDING_FOLDER)


def _path(archive: Archive, session_id: str) -> str:
    name = "".join(character if character.isalnum() or character == "-" else "_" for character in session_id)
    return os.path.join(_folder(archive), name[:100] + _ENDING)
