"""Health: every run of a hook writes a trace, and a problem is shown until the next successful run.

The trace is a small file for each event, overwritten on each run. Problems are also appended to a log of limited size.
"""

from __future__ import annotations

import os
from contextlib import suppress

from unified_state.lib.files import append_whole, write_session_file
from unified_state.lib.json_text import dump_json, parse_json, parse_object
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, read_regular
from unified_state.lib.record import Record
from unified_state.lib.text import well_formed
from unified_state.lib.times import age_text, is_past, to_text

RUNS_FOLDER = "runs"  # beside the archive: a trace for each event
LOG, BUG_REPORT = "hook.log", "bug-report.txt"
SYNC_RUN = "sync"  # a sync with the team's server leaves the same trace as a hook
IDENTITY, ARCHIVE = "identity", "archive"  # repairs leave the same trace as hooks
MENDED = (IDENTITY, ARCHIVE)
_MENDED_DAYS = 3  # number of days for which session starts show a repair
_MOST_LOG_BYTES = 1 << 18
DAMAGED_MARK = ".damaged-"  # in the name of each file that was set aside


class HookRun(Record):
    """The last run of one event: its time, its duration in milliseconds, and the problem, if any."""

    event: str
    at: int
    milliseconds: int
    problem: str | None = None


def note_run(folder: str, run: HookRun) -> None:
    """Write the trace of an event's last run. Raises OSError."""
    content = dump_json([run.at, run.milliseconds, run.problem])
    write_session_file(os.path.join(folder, RUNS_FOLDER, run.event), well_formed(content))


def forget_run(folder: str, event: str) -> None:
    """Delete the trace of an event's last run, if there is one."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, RUNS_FOLDER, event))


def last_runs(folder: str) -> list[HookRun]:
    """Return the last run of each event that ever ran."""
    runs = []
    for path in _files_in(os.path.join(folder, RUNS_FOLDER)):
        try:
            at, milliseconds, problem = parse_json(read_regular(path, SMALL_FILE).decode())
            runs.append(HookRun(os.path.basename(path), at, milliseconds, problem))
        except (OSError, ValueError, TypeError):
            continue  # another process is writing it
    return runs


def health_line(folder: str, now: int) -> str | None:
    """Return one line about recent damage and repairs and the last hook failure, or None."""
    told = [
        f"{age_text(now, run.at)}: {run.problem}"
        for run in last_runs(folder)
        if run.event in MENDED and run.problem and is_past(run.at, now) and now - run.at < _MENDED_DAYS * 86_400_000
    ]
    newest = newest_problem(folder)
    if newest is not None:
        when = age_text(now, newest.at)
        told.append(f"{newest.event} failed {when}: {newest.problem}; `unified-state doctor` tells more")
    return "; ".join(told) or None


def set_aside_files(folder: str) -> list[str]:
    """Return the names of the damaged files that were set aside beside the archive and still exist."""
    names = map(os.path.basename, _files_in(folder))
    return [name for name in names if DAMAGED_MARK in name and not name.endswith(("-journal", "-wal", "-shm"))]


def newest_problem(folder: str) -> HookRun | None:
    """Return the most recent run among the hooks whose last run failed, or None."""
    problems = [run for run in last_runs(folder) if run.problem and run.event not in MENDED]
    return max(problems, key=lambda run: run.at, default=None)


def log_problem(data_dir: str, now: int, event: str, problem: str, details: str = "") -> None:
    """Append a problem to the log. A log that is too large is renamed, and replaces the previous old one."""
    path = os.path.join(data_dir, LOG)
    os.makedirs(data_dir, mode=0o700, exist_ok=True)
    if os.path.exists(path) and os.path.getsize(path) > _MOST_LOG_BYTES:
        os.replace(path, path + ".1")
    line = dump_json({"at": to_text(now), "event": event, "problem": problem, "details": details}) + "\n"
    append_whole(path, line.encode("utf-8", "replace"))


def problem_files(data_dir: str, folder: str) -> list[str]:
    """Return the files that record problems; they may quote content of the session."""
    logs = [os.path.join(data_dir, name) for name in (LOG, LOG + ".1", BUG_REPORT)]
    return [path for path in logs + _files_in(os.path.join(folder, RUNS_FOLDER)) if os.path.isfile(path)]


def _files_in(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []


def read_log(data_dir: str, limit: int) -> list[dict[str, str]]:
    """Return the newest problems in the log, newest last."""
    lines: list[bytes] = []
    for name in (LOG + ".1", LOG):
        with suppress(FileNotFoundError):  # no problem yet, or not enough of them for a second file
            lines += read_regular(os.path.join(data_dir, name), LARGE_FILE).splitlines()
    # a killed process may leave an incomplete line
    return [problem for line in lines[-limit:] if (problem := parse_object(line))]
