"""Diagnose a place: check everything that could lose data."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from sqlite3 import DatabaseError, sqlite_version_info
from typing import TypeVar

from unified_state.archive.archive import Archive, check_owner, damaged, storage_error
from unified_state.archive.journalled_archive import JournalledArchive
from unified_state.archive.schema.archive_check import problem_in
from unified_state.archive.sessions import newest_with_transcript, read_cursor, session_id_of, transcripts_of
from unified_state.archive.steps import KIND_NUMBERS, damaged_steps
from unified_state.context.read_context import newest_reading
from unified_state.errors import UnifiedStateError
from unified_state.extension import parts
from unified_state.hosts.install.claude_settings import transcripts_folder
from unified_state.hosts.transcripts.rules.claude_kinds import UNKNOWN
from unified_state.lib.files import is_left_behind, old_leftovers
from unified_state.lib.package import __version__
from unified_state.lib.read_files import SMALL_FILE, open_regular
from unified_state.lib.record import Record
from unified_state.lib.times import age_text
from unified_state.model.check import Check, bad, good
from unified_state.model.context_usage import Reading
from unified_state.model.step import NOTICE
from unified_state.project.find_repository import FOREIGN, ID_FILE, examine, find_repository
from unified_state.project.git_command import find_git
from unified_state.project.health import LOG, MENDED, SYNC_RUN, last_runs, read_log, set_aside_files
from unified_state.project.place import JOURNAL, Place, history_path
from unified_state.project.workspace.waiting_events import waiting_files
from unified_state.settings import Settings
from unified_state.upkeep.doctor.check_hooks import check_hooks
from unified_state.upkeep.doctor.project_status import silence

T = TypeVar("T")

_LEAST_FREE = 200 * 1024 * 1024  # bytes
_NETWORK_FILE_SYSTEMS = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs", "fuse.s3fs",
}  # fmt: skip
_RECENT_PROBLEMS = 5
_NEWEST_STEPS = 100_000  # that are looked through for unknown kinds
_MOST_NAMED = 5  # damaged parts of an archive
_QUICKLY_READ = 32 * 1024 * 1024  # bytes of an archive that is checked whole in a tenth of a second
_OUR_LEFTOVER = re.compile(r"(unified-|settings\.).*\.\d+\.[0-9a-f]{8}\.tmp$")
_HOOKS_LATER = 60_000  # milliseconds in which a session that a hook told of goes on
_PATIENCE = 1.0  # seconds for which each check waits for another process that writes


class Subject(Record):
    """The place to diagnose. `history` is the path of the archive, or in the tier json of the journal.

    `reads_all` says that every byte of a large archive is checked too, and `mends` that left-over files are removed.
    """

    place: Place
    settings: Settings
    environ: Mapping[str, str]
    now: int
    history: str
    reads_all: bool
    mends: bool = False

    def read(self, action: Callable[[Archive], T]) -> T | None:
        """Return action(archive), or None if the archive is missing or unusable, which its own check reports."""
        if not os.path.exists(self.history):
            return None
        try:
            with self.open() as archive:
                return action(archive)
        except UnifiedStateError:
            return None

    def open(self) -> Archive:
        """Open the archive, or the replay of the journal."""
        opened = JournalledArchive if self.history.endswith(JOURNAL) else Archive
        return opened(self.history, seconds=_PATIENCE)


def diagnose(
    place: Place,
    settings: Settings,
    environ: Mapping[str, str],
    now: int,
    *,
    reads_all: bool = False,
    mends: bool = False,
) -> list[Check]:
    """Return all checks, the most important first. `reads_all` asks for a check of every byte of a large archive."""
    history = history_path(place, settings.tier)
    subject = Subject(place, settings, environ, now, history, reads_all, mends)
    return [check for checks in _CHECKS for check in _checked(checks, subject)]


def _checked(checks: Callable[[Subject], Iterator[Check]], subject: Subject) -> Iterator[Check]:
    """Yield the results of some checks. One that cannot look at its subject has found a problem."""
    try:
        yield from checks(subject)
    except (DatabaseError, UnifiedStateError) as error:
        known = error if isinstance(error, UnifiedStateError) else storage_error(error, subject.history)
        yield bad(checks.__name__.strip("_").replace("_", " "), known.message, known.hint)


def _hooks(subject: Subject) -> Iterator[Check]:
    return check_hooks(subject.place.repository.worktree, subject.settings.data_dir, subject.environ)


def _silence(subject: Subject) -> Iterator[Check]:
    """Check that hooks may run, and that the last sessions of Claude Code ran some."""
    for reason in silence(subject.place, subject.settings, subject.environ):
        yield bad("archiving", reason, "if you want that, all is well")
    folder = transcripts_folder(subject.place.repository.worktree, subject.environ)
    last = max((run.at for run in last_runs(subject.place.folder)), default=subject.now)
    written = subject.read(lambda archive: _unknown_since(archive, folder, last + _HOOKS_LATER))
    if written:
        told = f"newer sessions here that ran no hook of ours: {len(written)}, the last one is {written[-1]}"
        hint = "a client with other settings (`--settings`, `--setting-sources`) wrote them; `import` archives them"
        yield bad("archiving", told, hint)


def _unknown_since(archive: Archive, folder: str, since: int) -> list[str]:
    """Return the transcripts in a folder of the client that were written after a moment, and are not archived."""
    names = [name for name in os.listdir(folder) if name.endswith(".jsonl")] if os.path.isdir(folder) else []
    written = {path: os.path.getmtime(path) * 1000 for path in (os.path.join(folder, name) for name in names)}
    new = [path for path in sorted(written, key=written.__getitem__) if written[path] > since]
    return [path for path in new if read_cursor(archive, path) is None]


def _owners(subject: Subject) -> Iterator[Check]:
    """Check for what of this folder is not used, because it is another user's."""
    repository = subject.place.repository
    around = find_repository(repository.worktree)
    if repository.git_dir is None and around.git_dir is not None:
        told = f"git does not use {around.worktree}, which belongs to another user, so it counts as no repository"
        hint = f"if you trust it: git config --global --add safe.directory {shlex.quote(around.worktree)}"
        yield bad("repository", told, hint)
    if examine(repository.identity_folder)[1] == FOREIGN:
        path = os.path.join(repository.identity_folder, ID_FILE)
        yield bad("repository", f"{path} is not used: it is not yours alone", "remove it; a new one is made")


def _runs(subject: Subject) -> Iterator[Check]:
    runs = [run for run in last_runs(subject.place.folder) if run.event != SYNC_RUN]  # of that the server's check tells
    if not runs:
        yield good("last runs", "no hook has run here yet")
    for run in runs:
        message = f"{age_text(subject.now, run.at)}, {run.milliseconds} ms{f': {run.problem}' if run.problem else ''}"
        yield Check(run.event, not run.problem or run.event in MENDED, message, "the log has the details")


def _problems(subject: Subject) -> Iterator[Check]:
    log = os.path.join(subject.settings.data_dir, LOG)
    problems = read_log(subject.settings.data_dir, _RECENT_PROBLEMS)
    told = "; ".join(f"{problem.get('at')} {problem.get('event')}: {problem.get('problem')}" for problem in problems)
    yield good("log", f"the newest problems in {log}: {told}" if problems else "no problems")


def _tier(subject: Subject) -> Iterator[Check]:
    """Check what waits for the archive."""
    for path in waiting_files(subject.place):
        told = f"what was recorded while the archive could not be used waits in {path}"
        yield bad("tier", told, "it joins the archive with the next command that can use that")


def _archive(subject: Subject) -> Iterator[Check]:
    path, is_json = subject.history, subject.history.endswith(JOURNAL)
    if not os.path.exists(path):
        yield good("archive", "nothing is archived here yet")
        return
    size = os.path.getsize(path)
    reads_all = subject.reads_all or size <= _QUICKLY_READ or is_json
    if not is_json and (problem := problem_in(path, reads_all=reads_all)) is not None:
        raise damaged(path, problem)
    with subject.open() as archive:
        check_owner(archive, subject.place.id or "")
        lost = damaged_steps(archive) if reads_all else []
        lines = archive.damaged if isinstance(archive, JournalledArchive) else 0
    if lost:
        steps = ", ".join(f"S{number}" for number in lost[:_MOST_NAMED])
        told = f"the texts of {len(lost)} steps in {path} are damaged: {steps}"
        yield bad("archive", told, "all else is usable; `unified-state forget` removes what is lost")
    if lines:
        told = f"{lines} lines of the history in {path} cannot be read, and are left out"
        yield bad("archive", told, "check the disk; a copy of the file may have them")
    if not (lost or lines):
        aside = set_aside_files(subject.place.folder)
        told = f"; set aside earlier: {', '.join(aside)}" if aside else ""
        found = "whole" if reads_all else "opens as it should, not read to its end (`--full` does)"
        yield good("archive", f"{found}, {size / 1e6:.1f} MB in {path}{told}")


def _unknown_kinds(subject: Subject) -> Iterator[Check]:
    """Count what the reader of transcripts does not know, in the newest steps: a newer client wrote it."""
    count = (
        "SELECT substr(tool, ?1), count(*) FROM step WHERE id > (SELECT max(id) FROM step) - ?2 AND kind = ?3 "
        "AND tool GLOB ?4 GROUP BY tool ORDER BY tool"
    )
    values = len(UNKNOWN) + 1, _NEWEST_STEPS, KIND_NUMBERS[NOTICE], f"{UNKNOWN}*"
    found = subject.read(lambda archive: archive.rows(count, *values))
    if found:
        told = ", ".join(f"{name} ({number:,})" for name, number in found)
        yield good("unknown kind", f"{told}: the client is newer than this version; the text is archived")


def _leftovers(subject: Subject) -> Iterator[Check]:
    """Name the files that killed processes left in our folders, and remove them if the user wants that."""
    repository = subject.place.repository
    left = old_leftovers(subject.settings.data_dir, subject.now)
    for folder in (os.path.dirname(subject.place.state_path), repository.identity_folder):  # others write there too
        names = [name for name in os.listdir(folder) if _OUR_LEFTOVER.match(name)] if os.path.isdir(folder) else []
        left += [path for name in names if is_left_behind(path := os.path.join(folder, name), subject.now)]
    if left and subject.mends:
        for path in left:
            os.unlink(path)
        yield good("left over", f"removed {len(left)} files of killed processes")
    elif left:
        told = f"{len(left)} files of killed processes: {', '.join(left[:_MOST_NAMED])}"
        yield bad("left over", told, "`unified-state doctor --fix` removes them")


def _file_system(subject: Subject) -> Iterator[Check]:
    folder = subject.place.folder
    if kind := _network_file_system(folder):
        told = f"the archive lies on a network file system ({kind}), where locks are not reliable"
        yield bad("file system", told, f"set data_dir to a local folder in the settings file (now: {folder})")


def _network_file_system(path: str) -> str | None:
    """Return the type of the network file system of a path, or None if it is local or unknown."""
    path = os.path.realpath(path)
    try:
        with open_regular("/proc/mounts") as mounts:
            fields = [line.split(" ") for line in mounts.read(SMALL_FILE).decode("utf-8", "replace").splitlines()]
    except OSError:
        return None
    holding = [
        (mount, kind) for _, mount, kind, *_ in fields if path == mount or path.startswith(mount.rstrip("/") + "/")
    ]
    kind = max(holding, key=lambda entry: len(entry[0]))[1] if holding else None
    return kind if kind in _NETWORK_FILE_SYSTEMS else None


def _space(subject: Subject) -> Iterator[Check]:
    folder = subject.place.folder
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free
    yield Check("free space", free >= _LEAST_FREE, f"{free / 1e9:.1f} GB", "free some space on the disk")


def _settings(subject: Subject) -> Iterator[Check]:
    for problem in subject.settings.problems:
        yield bad("settings", problem, "`unified-state config` shows all settings")


def _window(subject: Subject) -> Iterator[Check]:
    """Tell where the size of the last session's context window comes from."""

    def newest(archive: Archive) -> Reading | None:
        session = newest_with_transcript(archive, subject.now)
        session_id = session_id_of(archive, session)
        if session is None or session_id is None:
            return None
        path = next(iter(transcripts_of(archive, session_id)), "")
        return newest_reading(archive, session, subject.place.folder, session_id, path)

    reading = subject.read(newest)
    if reading is not None:
        table = f"our table has for {reading.model}; after `install --status-line` the client says it"
        yield good(
            "context window", f"{reading.window:,} tokens, as {table if reading.is_guess else 'the client says'}"
        )


def _extras(subject: Subject) -> Iterator[Check]:
    for checks in parts("CHECKS"):
        yield from checks(subject)


def _versions(subject: Subject) -> Iterator[Check]:
    git = find_git(subject.environ, subject.place.repository.worktree)
    told = "no git"
    if git:
        told = subprocess.run([git, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    sqlite = ".".join(map(str, sqlite_version_info))
    python = platform.python_version()
    yield good("versions", f"unified-state {__version__}, Python {python}, SQLite {sqlite}, {told}, {sys.platform}")


_CHECKS = (
    *(_hooks, _silence, _owners, _runs, _problems, _tier, _archive, _unknown_kinds, _leftovers, _file_system, _space),
    *(_settings, _window, _extras, _versions),
)
