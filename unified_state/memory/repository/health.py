"""Health: every run of a hook leaves a trace, and a problem is kept until the next good run, so that nothing dies
unseen.

The trace is a small file for each event, overwritten on each run; problems also go to a log that is cut when it grows.
"""

from __future__ import annotations

import os

from unified_state.lib.record import Record
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.times import age_text, to_text

PENDING_FOLDER = "pending"  # beside the archive: messages that wait for the transcript
LOG, BUG_REPORT = "hook.log", "bug-report.txt"
SYNC_RUN = "sync"  # a sync with the team's server leaves its trace as hooks do
IDENTITY, ARCHIVE = "identity", "archive"  # what was mended leaves its trace as hooks do
MENDED = (IDENTITY, ARCHIVE)
_MENDED_DAYS = 3  # that session starts tell of it
_RUNS = "runs"
_MOST_LOG_BYTES = 1 << 18
DAMAGED_MARK = ".damaged-"  # in the name of each file that was set aside


class HookRun(Record):
    """The last run of one event: when, how long it took in milliseconds, and what went wrong, if anything."""

    event: str
    at: int
    milliseconds: int
    problem: str | None = None


def note_run(folder: str, run: HookRun) -> None:
    """Remember the last run of an event."""
    runs = os.path.join(folder, _RUNS)
    os.makedirs(runs, mode=0o700, exist_ok=True)
    line = dump_json([run.at, run.milliseconds, run.problem])
    descriptor = os.open(os.path.join(runs, run.event), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, line.encode("utf-8", "replace"))
    finally:
        os.close(descriptor)


def forget_run(folder: str, event: str) -> None:
    """Forget the last run of an event, if there was one."""
    path = os.path.join(folder, _RUNS, event)
    if os.path.exists(path):
        os.unlink(path)


def last_runs(folder: str) -> list[HookRun]:
    """The last run of each event that ever ran."""
    runs = []
    try:
        names = sorted(os.listdir(os.path.join(folder, _RUNS)))
    except FileNotFoundError:
        return []
    for name in names:
        try:
            with open(os.path.join(folder, _RUNS, name), encoding="utf-8") as file:
                at, milliseconds, problem = parse_json(file.read())
            runs.append(HookRun(name, at, milliseconds, problem))
        except (OSError, ValueError, TypeError):
            continue  # being written this very moment
    return runs


def health_line(folder: str, now: int) -> str | None:
    """One line about what was damaged and mended of late, and what went wrong in the last run of a hook, or None."""
    runs = last_runs(folder)
    told = [
        f"{age_text(now - run.at)}: {run.problem}"
        for run in runs
        if run.event in MENDED and run.problem and now - run.at < _MENDED_DAYS * 86_400_000
    ]
    newest = _newest_problem(runs)
    if newest is not None:
        when = age_text(now - newest.at)
        told.append(f"{newest.event} failed {when}: {newest.problem}; `unified-state doctor` tells more")
    aside = [name for name in set_aside_files(folder, now - _MENDED_DAYS * 86_400_000) if os.path.dirname(name)]
    if aside:
        told.append(f"messages that waited for the transcript were damaged and set aside: {', '.join(aside)}")
    return "; ".join(told) or None


def set_aside_files(folder: str, since: int = 0) -> list[str]:
    """The names of the damaged files that were set aside beside the archive since then, and not removed by the user."""
    names = []
    for below in ("", PENDING_FOLDER):
        path = os.path.join(folder, below)
        found = sorted(os.listdir(path)) if os.path.isdir(path) else []
        names += [os.path.join(below, name) for name in found if _is_set_aside(os.path.join(path, name), since)]
    return names


def _is_set_aside(path: str, since: int) -> bool:
    """Whether the name of a file says so; a file system notes when a file got its name."""
    try:
        is_main = not path.endswith(("-journal", "-wal", "-shm"))
        return is_main and DAMAGED_MARK in os.path.basename(path) and os.stat(path).st_ctime * 1000 >= since
    except OSError:
        return False  # it was removed this very moment


def newest_problem(folder: str) -> HookRun | None:
    """Of the hooks whose last run went wrong the one that ran last."""
    return _newest_problem(last_runs(folder))


def _newest_problem(runs: list[HookRun]) -> HookRun | None:
    problems = [run for run in runs if run.problem and run.event not in MENDED]
    return max(problems, key=lambda run: run.at, default=None)


def log_problem(data_dir: str, now: int, event: str, problem: str, details: str = "") -> None:
    """Append a problem to the log, which keeps its newer half when it has grown too large."""
    path = os.path.join(data_dir, LOG)
    os.makedirs(data_dir, mode=0o700, exist_ok=True)
    if os.path.exists(path) and os.path.getsize(path) > _MOST_LOG_BYTES:
        os.replace(path, path + ".1")
    line = dump_json({"at": to_text(now), "event": event, "problem": problem, "details": details}) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line.encode("utf-8", "replace"))
    finally:
        os.close(descriptor)


def problem_files(data_dir: str, folder: str) -> list[str]:
    """The files that tell of problems, and may quote what the problem was met in."""
    runs = os.path.join(folder, _RUNS)
    traces = [os.path.join(runs, name) for name in sorted(os.listdir(runs))] if os.path.isdir(runs) else []
    logs = [os.path.join(data_dir, name) for name in (LOG, LOG + ".1", BUG_REPORT)]
    return [path for path in logs + traces if os.path.isfile(path)]


def read_log(data_dir: str, limit: int) -> list[dict[str, str]]:
    """The newest problems in the log, the newest last."""
    lines: list[str] = []
    for name in (LOG + ".1", LOG):
        try:
            with open(os.path.join(data_dir, name), encoding="utf-8", errors="replace") as file:
                lines += file.readlines()
        except FileNotFoundError:
            continue  # nothing went wrong yet, or not enough to fill a second file
    problems = []
    for line in lines[-limit:]:
        try:
            problem = parse_json(line)
        except ValueError:
            continue  # half a line of a process that was killed
        if isinstance(problem, dict):
            problems.append(problem)
    return problems
