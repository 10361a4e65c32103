"""The client's own figures of a session, as its status line was last told: a small file for each session.

The status line writes it several times a minute.
"""

from __future__ import annotations

from unified_state.lib.files import session_file, write_session_file
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.model.context_usage import Reading

_FOLDER = "usage"
_MOST_BYTES = 1_000


def keep_usage(folder: str, session_id: str, reading: Reading) -> None:
    """Write down what the client said, if it is new."""
    known = read_usage(folder, session_id)
    if known is not None and (known.tokens, known.window) == (reading.tokens, reading.window):
        return
    line = dump_json([reading.tokens, reading.window, reading.at])
    write_session_file(session_file(folder, _FOLDER, session_id), line)


def read_usage(folder: str, session_id: str) -> Reading | None:
    """What the client last said of a session; None where it has no status line of ours."""
    try:
        with open(session_file(folder, _FOLDER, session_id), encoding="utf-8") as file:
            tokens, window, at = parse_json(file.read(_MOST_BYTES))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not all(isinstance(value, int) for value in (tokens, window, at)) or tokens < 0 or window <= 0:
        return None
    return Reading(tokens, window, at)
