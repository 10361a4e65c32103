"""Whether the constraints of a repository are enforced: the table is whole and as the ledger says, and the hook that
reads it stands in the worktree's settings.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys

from unified_state.constraints.compile_constraints import enforced
from unified_state.constraints.constraint_table import has_hook, read_stamp, read_table, settings_path, table_path
from unified_state.errors import DamagedArchiveError, UnifiedStateError
from unified_state.lib.package import PACKAGE_ROOT, __version__
from unified_state.lib.stdlib import NO_SQLITE, DatabaseError, has_sqlite, sqlite_version_info
from unified_state.lib.times import age_text
from unified_state.memory.archive.archive import Archive, damaged, storage_error
from unified_state.memory.archive.schema.archive_check import problem_in
from unified_state.memory.archive.schema.archive_owner import check_owner
from unified_state.memory.journal.journal_places import waiting_journals
from unified_state.memory.journal.journalled_archive import JournalledArchive
from unified_state.memory.ledger.item_table import ACTIVE, list_items
from unified_state.memory.repository.git_command import find_git
from unified_state.memory.repository.health import LOG, MENDED, SYNC_RUN, last_runs, read_log, set_aside_files
from unified_state.memory.repository.place import journal_folder
from unified_state.memory.workspace.workspace import JSON_TIER
from unified_state.model.item import CONSTRAINT
from unified_state.setting_table import OFF
from unified_state.team.sync_server import ServerState, server_states
from unified_state.team.team_server import server_problem
from unified_state.upkeep.doctor.check_hooks import Check, check_hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unified_state.memory.repository.place import Place
    from unified_state.settings import Settings


_ENFORCED = "enforced constraints"
_MENDS = "the next session start mends it"


def check_enforcement(place: Place) -> Iterator[Check]:
    """One check where anything is enforced; none where nothing is."""
    if not os.path.exists(place.archive_path):
        return
    try:
        with Archive(place.archive_path) as archive:
            wanted, (_, stamp) = enforced(list_items(archive, CONSTRAINT, [ACTIVE])), read_stamp(archive)
    except UnifiedStateError:
        return  # the check of the archive tells
    table, settings = read_table(place.folder), settings_path(place.repository.worktree)
    if not wanted and not has_hook(place):
        return
    if wanted and table is None:
        path = table_path(place.folder)
        yield Check(
            _ENFORCED, ok=False, message=f"{path} is missing or damaged", hint=f"the next tool call or {_MENDS[4:]}"
        )
    elif table is not None and table.stamp != stamp:
        yield Check(_ENFORCED, ok=False, message="the table is not as the ledger says", hint=_MENDS)
    elif bool(wanted) != has_hook(place):
        what = f"{settings} lacks the hook" if wanted else f"{settings} has a hook with nothing to enforce"
        yield Check(_ENFORCED, ok=False, message=what, hint=f"{_MENDS}, if the file is valid JSON")
    else:
        told = ", ".join(f"{entry.ref} ({entry.mode})" for entry in wanted)
        yield Check(_ENFORCED, ok=True, message=f"{told}; hook in {settings}")


_MEANING = "search by meaning"


def check_meaning(place: Place, settings: Settings) -> Iterator[Check]:
    """One check where it is turned on; none where it is not."""
    if settings.search_vectors == OFF or not os.path.exists(place.archive_path):
        return
    try:
        from unified_state.search.query_meaning import open_reader

        reader = open_reader(settings.search_vectors)
        with Archive(place.archive_path) as archive:
            has_vectors = reader.knows(archive)
    except UnifiedStateError as error:
        yield Check(_MEANING, ok=False, message=error.message, hint=error.hint)
        return
    if has_vectors:
        yield Check(_MEANING, ok=True, message=f"by the model {settings.search_vectors}")
    else:
        message = f"no step has a vector of the model {settings.search_vectors} as it is now"
        yield Check(_MEANING, ok=False, message=message, hint="`unified-state embed` makes them")


_SERVER = "server"


def check_servers(place: Place, settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """One check for each server that this archive ever met; and one for a server that it has still to meet, or that
    cannot be one.
    """
    problem = server_problem(settings, environ)
    if problem is not None:
        yield Check(_SERVER, ok=False, message=f"nothing is synced: {problem.message}", hint=problem.hint)
    if not os.path.exists(place.archive_path):
        return
    try:
        with Archive(place.archive_path) as archive:
            states = server_states(archive)
    except UnifiedStateError:
        return  # the check of the archive tells
    if settings.sync_in_background and not settings.postgres_enabled:
        yield Check(
            _SERVER,
            ok=False,
            message="sync_in_background has no server",
            hint="set postgres_enabled and postgres_dsn",
        )
    is_named = settings.postgres_enabled and problem is None
    if is_named and not states:
        yield Check(_SERVER, ok=True, message="nothing was sent yet; `unified-state sync` begins")
    newest = max((state.began_at or 0 for state in states), default=0)
    for state in states:
        is_in_use = is_named and (state.began_at or 0) == newest
        yield _check(state) if is_in_use else _left_behind(state)


def _check(state: ServerState) -> Check:
    waiting = state.waiting_steps + state.waiting_changes + state.waiting_vectors
    if state.error is None:
        message = f"{state.name}: {f'{waiting:,} wait' if waiting else 'has everything'}"
        return Check(_SERVER, ok=True, message=message)
    message = f"{state.name}: {waiting:,} wait, {state.failures} runs failed: {state.error}"
    return Check(_SERVER, ok=False, message=message, hint="nothing is lost; `unified-state sync` tries again")


def _left_behind(state: ServerState) -> Check:
    """Of a server that was in use. That it has what was forgotten since then is no fault, but the user's to know."""
    message = f"{state.name}: not in use any more"
    if state.waiting_forgotten:
        message += f", but it still has what was forgotten here since ({state.waiting_forgotten:,}): a sync under the "
        message += "settings and the `origin` of then takes it back"
    return Check(_SERVER, ok=True, message=message)


_LEAST_FREE = 200 * 1024 * 1024  # bytes
_NETWORK_FILE_SYSTEMS = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs", "fuse.s3fs",
}  # fmt: skip
_RECENT_PROBLEMS = 5


def diagnose(place: Place, settings: Settings, environ: Mapping[str, str], now: int) -> list[Check]:
    """All checks, those that matter most first."""
    is_replayed = settings.tier == JSON_TIER and has_sqlite() and os.path.isdir(journal_folder(place))
    looked_at = _replayed(place) if is_replayed else place
    return [
        *check_hooks(place.repository.worktree, settings.data_dir, environ),
        *_runs(place, now),
        *_problems(settings),
        *_tier(place, settings),
        *([] if settings.tier == JSON_TIER else [_archive(place)]),
        _file_system(place),
        _space(place),
        _compiled(),
        *_settings(settings),
        *check_enforcement(looked_at),
        *check_meaning(looked_at, settings),
        *check_servers(looked_at, settings, environ),
        _versions(place, environ),
    ]


def _runs(place: Place, now: int) -> Iterator[Check]:
    runs = [run for run in last_runs(place.folder) if run.event != SYNC_RUN]  # the check of the server tells more
    if not runs:
        yield Check("last runs", ok=True, message="no hook has run here yet")
    for run in runs:
        told = f"{age_text(now - run.at)}, {run.milliseconds} ms"
        hint = "the log has the details" if run.problem else ""
        yield Check(
            run.event,
            ok=not run.problem or run.event in MENDED,
            message=f"{told}{f': {run.problem}' if run.problem else ''}",
            hint=hint,
        )


def _problems(settings: Settings) -> Iterator[Check]:
    log = os.path.join(settings.data_dir, LOG)
    problems = read_log(settings.data_dir, _RECENT_PROBLEMS)
    told = "; ".join(f"{problem.get('at')} {problem.get('event')}: {problem.get('problem')}" for problem in problems)
    yield Check("log", ok=True, message=f"the newest problems in {log}: {told}" if problems else "no problems")


def _tier(place: Place, settings: Settings) -> Iterator[Check]:
    """Where the history lies, if not in the archive alone."""
    is_chosen = settings.tier == JSON_TIER
    waiting = waiting_journals(place, is_tier=is_chosen)
    if not has_sqlite():
        told = f"{NO_SQLITE}: hooks note each turn for later, and commands do not work"
        yield Check("tier", ok=False, message=told, hint="run `install` with a Python that has it: it looks for one")
    elif is_chosen:
        yield _journal(place)
    if waiting:
        told = f"what was recorded while the archive could not be used waits in {', '.join(waiting)}"
        yield Check("tier", ok=False, message=told, hint="it joins the archive with the next command that can use that")


def _replayed(place: Place) -> Place:
    """The place, with the archive that its journal is replayed into."""
    try:
        with JournalledArchive(journal_folder(place)) as archive:
            return place.replace(archive_path=archive.path)
    except UnifiedStateError:
        return place  # the check of the tier tells


def _journal(place: Place) -> Check:
    folder = journal_folder(place)
    hidden = f"; the archive {place.archive_path} is not shown" if os.path.exists(place.archive_path) else ""
    if os.path.isdir(folder):
        try:
            with JournalledArchive(folder) as archive:
                damaged = archive.damaged
        except UnifiedStateError as error:
            return Check("tier", ok=False, message=error.message, hint=error.hint)
        if damaged:
            told = f"{damaged} lines of the history in {folder} cannot be read, and are left out"
            return Check("tier", ok=False, message=told, hint="check the disk; a copy of the file may have them")
    return Check("tier", ok=True, message=f"json: a journal in {folder}{hidden}")


def _archive(place: Place) -> Check:
    if not os.path.exists(place.archive_path):
        return Check("archive", ok=True, message="nothing is archived here yet")
    try:
        problem = problem_in(place.archive_path)
        if problem is not None:
            raise damaged(place.archive_path, problem)
        with Archive(place.archive_path) as archive:
            check_owner(archive, place.id or "")
    except DatabaseError as error:
        return _bad_archive(storage_error(error, place.archive_path))
    except UnifiedStateError as error:
        return _bad_archive(error)
    size = os.path.getsize(place.archive_path) / 1e6
    aside = set_aside_files(place.folder)
    told = f"; set aside earlier: {', '.join(aside)}" if aside else ""
    return Check("archive", ok=True, message=f"whole, {size:.1f} MB in {place.archive_path}{told}")


def _bad_archive(error: UnifiedStateError) -> Check:
    is_damaged = isinstance(error, DamagedArchiveError)
    hint = "it is set aside at the next use; nothing is deleted" if is_damaged else error.hint
    return Check("archive", ok=False, message=error.message, hint=hint)


def _file_system(place: Place) -> Check:
    kind = network_file_system(place.folder)
    if kind:
        return Check(
            "file system",
            ok=False,
            message=f"the archive lies on a network file system ({kind}), where locks are not reliable",
            hint=f"set data_dir to a local folder in the settings file (now: {place.folder})",
        )
    return Check("file system", ok=True, message="local, as far as can be told")


def network_file_system(path: str) -> str | None:
    """The type of the network file system that a path lies on; None where it is local or cannot be told."""
    kind = file_system_of(path)
    return kind if kind in _NETWORK_FILE_SYSTEMS else None


def file_system_of(path: str) -> str | None:
    """The type of the file system that holds a path, as /proc/mounts names it; None where that does not exist."""
    path = os.path.realpath(path)
    try:
        with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
            fields = [line.split(" ") for line in mounts]
    except OSError:
        return None
    holding = [
        (mount, kind) for _, mount, kind, *_ in fields if path == mount or path.startswith(mount.rstrip("/") + "/")
    ]
    return max(holding, key=lambda entry: len(entry[0]))[1] if holding else None


def _space(place: Place) -> Check:
    folder = place.folder
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free
    return Check(
        "free space", ok=free >= _LEAST_FREE, message=f"{free / 1e9:.1f} GB", hint="free some space on the disk"
    )


def _compiled() -> Check:
    """Without compiled modules each hook costs half as much again."""
    from importlib.util import cache_from_source

    module = os.path.join(PACKAGE_ROOT, "unified_state", "interfaces", "hook.py")
    present = os.path.exists(cache_from_source(module))
    return Check(
        "compiled modules", ok=present, message="present" if present else "missing", hint="run `unified-state install`"
    )


def _settings(settings: Settings) -> Iterator[Check]:
    for problem in settings.problems:
        yield Check("settings", ok=False, message=problem, hint="`unified-state config` shows all settings")


def _versions(place: Place, environ: Mapping[str, str]) -> Check:
    git = find_git(environ, place.repository.worktree)
    told = (
        subprocess.run([git, "--version"], capture_output=True, text=True, check=False).stdout.strip()
        if git
        else "no git"
    )
    sqlite = ".".join(map(str, sqlite_version_info)) if has_sqlite() else "missing"
    message = (
        f"unified-state {__version__}, Python {platform.python_version()}, SQLite {sqlite}, {told}, {sys.platform}"
    )
    return Check("versions", ok=True, message=message)
