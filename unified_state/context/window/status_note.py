"""The note of a session's status line: the figures from the archive, and what they depend on.

A status line that had to open the archive writes the note (`write_status_note`). While the archive's stamp, the
session's way and the client's variables are as they were, later ones take the figures from it. This module loads
neither `os` nor SQLite, which cost more than all the rest.
"""

from __future__ import annotations

import time

from unified_state.context.window.rules.status_text import MINUTE, Glance, status_line, time_left, window_figures
from unified_state.lib.stdlib import SMALL_FILE, dump_json, parse_json, read_regular, system
from unified_state.lib.times import age_text
from unified_state.memory.spool.hook_files import RUNS_FOLDER, archive_stamp
from unified_state.memory.spool.session_way import is_as_it_was, variable, way_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FORMAT = 2
USAGE_FOLDER = "usage"  # beside the archive: the client's last figures of each session
_VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "DISABLE_AUTO_COMPACT",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
)
_PHASES = ("ok", "warning", "optimise")
_WENT_WELL = b",null]"  # the end of a trace without a problem
_MARGIN = 4  # columns that the client reserves
_USUAL_COLUMNS = 120


def note_path(data_dir: str, session_id: str) -> str:
    """Return the path of a session's note, or "" for a session without one (see `way_path`)."""
    path = way_path(data_dir, session_id) if session_id else ""
    return path and f"{path}.status"


def client_variables() -> list[str]:
    """Return the variables of the environment on which a note depends."""
    return [variable(name) for name in _VARIABLES]


def draw(glance: Glance, variable: Callable[[str, str], str]) -> str:
    """Return the status line for the terminal of an environment. `variable(NAME, "")` returns its variables."""
    columns = variable("COLUMNS", "")
    width = int(columns) - _MARGIN if columns.isascii() and columns.isdigit() else _USUAL_COLUMNS
    return status_line(glance, width, colour=not variable("NO_COLOR", "") and variable("TERM", "") != "dumb")


def noted_line(data_dir: str, event: dict[str, Any], *, has_other: bool = False) -> str:
    """Return the status line by the session's note, or "" if the archive must be opened, or something else is not as
    usual.

    `has_other` is as for the note's writer. Raises OSError, or ValueError, TypeError, KeyError or AttributeError for a
    damaged note.
    """
    path = note_path(data_dir, event["session_id"])
    note = parse_json(read_regular(path, SMALL_FILE).decode("utf-8", "surrogatepass")) if path else {}
    if not note or note["format"] != FORMAT or note["variables"] != client_variables():
        return ""
    if note["has_other"] != has_other:
        return ""
    way, now = note["way"], int(time.time() * 1000)
    folder, figures = str(way["folder"]), window_figures(event.get("context_window"))
    is_known = figures is None or note["window"] == figures[1]
    if not is_known or not folder.startswith(f"{data_dir}/repositories/") or not is_as_it_was(way, event["cwd"]):
        return ""
    stamp = archive_stamp(way["archive"])
    if stamp is None or stamp != note["stamp"] or not _all_went_well(folder):
        return ""
    if figures is not None and figures[0]:
        _keep_usage(f"{folder}/{USAGE_FOLDER}/{event['session_id']}.json", figures[0], figures[1], now)
    return draw(noted_glance(note, figures, now), variable)


def noted_glance(note: dict[str, Any], figures: tuple[int, int, float | None] | None, now: int) -> Glance:
    """Return the figures of a status line, from a note and from those that the client gave (see `window_figures`)."""
    saved = note["saved_at"]
    glance = Glance(**note["counts"], saved=None if saved is None else age_text(now, saved))
    if figures is None:
        return glance
    tokens, window, percent = figures
    return glance.replace(window=window, percent=percent, **_ahead(note, tokens, now))


def _all_went_well(folder: str) -> bool:
    """Return whether the last run of every hook went well."""
    below = f"{folder}/{RUNS_FOLDER}"
    try:
        names = system.listdir(below)
    except FileNotFoundError:
        return True
    return all(read_regular(f"{below}/{name}", SMALL_FILE).endswith(_WENT_WELL) for name in names)


def _ahead(note: dict[str, Any], tokens: int, now: int) -> dict[str, Any]:
    """Return the phase at a number of tokens, and the time until the client compacts."""
    limit, points = note["compacts_at"], note["points"]
    turns, minutes = note["left"]
    if points and tokens != points[-1][2]:  # the current turn
        (began, first, least), (_, last, most) = points[0], points[-1]
        turns = minutes = None
        if tokens >= most and tokens > least:
            left = max(0, limit - tokens)
            turns, minutes = time_left(left, tokens - least, last + 1 - first, (now - began) / MINUTE)
    return {
        "tokens": tokens,
        "compacts_at": limit,
        "phase": _PHASES[sum(tokens >= bound for bound in note["bounds"])],
        "turns_left": turns,
        "minutes_left": minutes,
        "stale": note["stale"],
    }


def _keep_usage(path: str, tokens: int, window: int, now: int) -> None:
    """Save the client's figures if they are new, in a file that exists."""
    if parse_json(read_regular(path, SMALL_FILE).decode())[:2] == [tokens, window]:
        return
    descriptor = system.open(path, system.O_WRONLY | system.O_TRUNC)
    try:
        system.write(descriptor, dump_json([tokens, window, now]).encode())
    finally:
        system.close(descriptor)
