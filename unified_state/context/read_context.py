"""Measure how full a session's context is, from the client's status line or from the transcript.

The status line stores the client's last figures in a small file for each session. A transcript is read backwards up to
a message or a compaction, because an older message does not describe the conversation after a compaction. The
newer of both sources counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from unified_state.archive.archive import Archive
from unified_state.context.context_table import newest_cut, phase_reached, seen_limits
from unified_state.context.rules.context_phase import (
    USUAL_WINDOW,
    compaction_limit,
    phase_of,
    window_of,
)
from unified_state.hosts.install.claude_settings import with_compaction_settings
from unified_state.hosts.transcripts.transcript_lines import parse_entries, time_of, usage_of
from unified_state.lib.files import session_file, write_session_file
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, open_regular, read_regular
from unified_state.model.context_usage import PHASES, Limit, Reading, UsageRecord
from unified_state.settings import Settings

USAGE_FOLDER = "usage"  # beside the archive: the client's last figures of each session


def newest_reading(
    archive: Archive, session: int, folder: str, session_id: str, transcript_path: str
) -> Reading | None:
    """Return the newest measurement since a session's last compaction, or None.

    The window comes from the client if known, because the client knows it better than we do: from its status line, or
    from the size of a conversation that it compacted.
    """
    _, cut_at = newest_cut(archive, session)
    told, found = read_usage(folder, session_id), last_usage(transcript_path)
    if found is not None:
        largest = archive.value("SELECT max(pre_tokens) FROM compaction WHERE session = ?", session) or 0
        if told is not None and found.tokens <= told.window:
            found = found.replace(window=told.window, is_guess=False)
        elif largest > found.window:
            found = found.replace(window=window_of(found.model, largest), is_guess=False)
        told = told and told.replace(model=found.model)
    readings = (reading for reading in (found, told) if reading is not None and reading.tokens and reading.at > cut_at)
    return max(readings, key=lambda reading: reading.at, default=None)


def watched_now(
    archive: Archive, session: int, reading: Reading, settings: Settings, project: str, environ: Mapping[str, str]
) -> UsageRecord:
    """Return the limit and the phase that follow from the newest reading of a session."""
    cycle, _ = newest_cut(archive, session)
    limit = limit_of(reading, seen_limits(archive, session, reading.window), project, environ)
    phase = phase_of(reading.tokens, limit.tokens, (settings.context_warning, settings.context_optimise))
    reached = max(phase, phase_reached(archive, session, cycle), key=PHASES.index)
    return UsageRecord(reading.tokens, limit, phase, reached, cycle)


def limit_of(reading: Reading, seen: Sequence[int], project: str, environ: Mapping[str, str]) -> Limit:
    """Return the number of tokens at which a client of this environment compacts, which starts in a project."""
    return compaction_limit(reading.window, seen, with_compaction_settings(reading.model, project, environ))


_PIECE = 1 << 18
_MOST = 1 << 24  # bytes that are searched
_USAGE, _BOUNDARY = b'"usage"', b'"compact_boundary"'
_SYNTHETIC = "<synthetic>"  # model name in messages that the client wrote itself


def last_usage(path: str) -> Reading | None:
    """Return the last usage of the main conversation since its last compaction, or None."""
    try:
        for line in _lines_from_the_end(path):
            if _BOUNDARY in line and any(entry.get("subtype") == "compact_boundary" for entry in parse_entries(line)):
                return None
            reading = _reading(line) if _USAGE in line else None
            if reading is not None:
                return reading
    except OSError:
        return None
    return None


def _reading(line: bytes) -> Reading | None:
    for entry in parse_entries(line):
        if entry.get("type") != "assistant" or entry.get("isApiErrorMessage"):
            continue
        usage, model = usage_of(entry), entry.get("message", {}).get("model")
        if usage is not None and usage.context_tokens > 0 and model != _SYNTHETIC:
            model = model if isinstance(model, str) else ""
            window = window_of(model, usage.context_tokens)
            is_guess = usage.context_tokens <= USUAL_WINDOW
            return Reading(usage.context_tokens, window, time_of(entry), model=model, is_guess=is_guess)
    return None


def _lines_from_the_end(path: str) -> Iterator[bytes]:
    with open_regular(path, 0) as file:
        position = os.fstat(file.fileno()).st_size
        least = max(0, position - _MOST)
        rest = b""
        while position > least:
            size = min(_PIECE, position - least)
            position -= size
            file.seek(position)
            first, *lines = (file.read(size) + rest).split(b"\n")
            yield from reversed(lines)
            rest = first
        yield rest


def keep_usage(folder: str, session_id: str, reading: Reading) -> None:
    """Save the client's figures if they are new."""
    known = read_usage(folder, session_id)
    if known is not None and (known.tokens, known.window) == (reading.tokens, reading.window):
        return
    line = dump_json([reading.tokens, reading.window, reading.at])
    write_session_file(session_file(folder, USAGE_FOLDER, session_id), line)


def read_usage(folder: str, session_id: str) -> Reading | None:
    """Return the client's last figures of a session, or None if our status line is not installed."""
    try:
        content = read_regular(session_file(folder, USAGE_FOLDER, session_id), SMALL_FILE)
        tokens, window, at = parse_json(content.decode())
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not all(isinstance(value, int) for value in (tokens, window, at)) or tokens < 0 or window <= 0:
        return None
    return Reading(tokens, window, at)
