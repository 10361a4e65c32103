"""A workspace: the repository of a folder with its settings and session, and the way to open its archive.

A workspace is a value. `Workspace.use` opens the archive for one action and begins a new one where it is damaged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from unified_state.archive.archive import Archive, check_owner, damaged, read_enforcement
from unified_state.archive.sessions import LOCAL_SESSION, session_of_same_client, touch_session
from unified_state.errors import (
    ArchiveUnavailableError,
    DamagedArchiveError,
    NewerArchiveError,
    OlderArchiveError,
    SettingError,
    StorageError,
    UnifiedStateError,
)
from unified_state.hosts.generation import QUIET_FOLDER
from unified_state.lib.record import Record
from unified_state.model.constraint import INFERRED, USER_SAID
from unified_state.project.find_repository import read_head
from unified_state.project.place import (
    EVENTS,
    JOURNAL,
    KEY_FILE,
    Place,
    beside_state_file,
    global_place,
    has_reminders,
    history_path,
    locate,
    session_project,
)
from unified_state.settings import Settings, environment, load_settings

WRITER_SECONDS, READER_SECONDS = 30.0, 3.0  # for which a command waits for another process that writes
_GLOBAL_SECONDS = 1.0  # for which a project waits for a writer of the memory for all projects
_LEAST_SALVAGE_SECONDS = 3.0
_PATIENT = 60.0  # seconds for repairs that commands have
# The archive cannot be used now. Only these errors are a reason to let an event wait.
UNAVAILABLE = (ArchiveUnavailableError, NewerArchiveError, OlderArchiveError, DamagedArchiveError)

if TYPE_CHECKING:
    from unified_state.ledger.record_item import Author
    from unified_state.model.item import LedgerItem
    from unified_state.secrets.masker import Masker

T = TypeVar("T")
Step = Callable[["Workspace", Archive], Any]


class AroundUse(Record):
    """What is done before and after each use of an archive. Each step is called only where there is something to do.

    `settle` enforces constraints that changed, and compiles the reminders where the user turned them on. `catch_up`
    archives the running turns whose prompts no hook archived; hooks have none. The entry points choose them, so lower
    layers do not depend on capture, enforcement or reminders.
    """

    settle: Step
    catch_up: Step | None = None


class Workspace(Record):
    """The repository of a folder, its settings, and its active session.

    `report` is called with one line about a problem (a damaged file was set aside), or of advice.
    `origin` is `user_said` in the user's own terminal and `inferred` for a model. `seconds` limits the wait for another
    writer, `repair_seconds` the time for salvaging a damaged archive; 0 where a prompt waits.
    """

    place: Place
    settings: Settings
    report: Callable[[str], None]
    session_id: str | None = None
    origin: str = INFERRED
    seconds: float = WRITER_SECONDS
    repair_seconds: float = _PATIENT
    around_use: AroundUse | None = None

    @cached_property
    def masker(self) -> Masker:
        """The masker of secrets. It is loaded for the first text that is written, since loading its rules takes longer
        than a search.
        """
        from unified_state.secrets.masker import Masker

        return Masker(self.place.key_folder, enabled=self.settings.mask_secrets)

    def mask(self, text: str) -> str:
        """Return a text with its secrets masked."""
        return self.masker.text(text)

    @property
    def history(self) -> str:
        """The path of the archive, or of the journal."""
        return history_path(self.place, self.settings.tier)

    @property
    def waiting(self) -> list[str]:
        """The files with events that could not be written into the archive."""
        own, beside = os.path.join(self.place.folder, EVENTS), beside_state_file(self.place)
        if not (os.path.exists(own) or os.path.isdir(beside)):
            return []
        from unified_state.project.workspace.waiting_events import waiting_files  # hardly ever, and every hook asks

        return waiting_files(self.place)

    @property
    def is_empty(self) -> bool:
        """True if this folder has no records."""
        return not (os.path.exists(self.history) or self.has_written or self.waiting)

    @property
    def has_written(self) -> bool:
        """True if a state file exists that was written from an archive here."""
        return os.path.exists(self.place.digest_path) and os.path.exists(self.place.state_path)

    def of_all_projects(self) -> Workspace:
        """Return the workspace of the memory for all projects."""
        return self.replace(place=global_place(self.settings.data_dir))

    def use(self, action: Callable[[Archive], T]) -> T:
        """Open the archive and return action(archive). Where the archive is damaged, set it aside and run the action
        in a new one.
        """
        try:
            try:
                return self._use(action)
            except DamagedArchiveError as error:
                from unified_state.project.workspace.damaged_archive import begin_anew

                # A command has no time limit, while the client would kill a hook.
                is_hook = self.repair_seconds < _PATIENT
                seconds = max(self.repair_seconds, _LEAST_SALVAGE_SECONDS) if is_hook else None
                begin_anew(self.place, self.masker, error, self.report, seconds)
            return self._use(action)
        except UNAVAILABLE as error:
            if waiting := self.waiting:
                error.hint = f"{error.hint}; what was recorded meanwhile is kept in {waiting[0]}"
            raise

    def _use(self, action: Callable[[Archive], T]) -> T:
        is_new = not os.path.exists(self.history)
        with self._open_archive() as archive:
            self._check(archive)
            if is_new and self.has_written:
                from unified_state.project.workspace.damaged_archive import refill

                refill(archive, self.place, self.masker, self.report, only_ours=True)
            if not os.path.exists(os.path.join(self.place.key_folder, KEY_FILE)):
                with suppress(StorageError):  # the first text that needs masking raises it again
                    self.masker.ensure_key()  # before the disk is full: it names the events beside the state file
            problem = None
            if self.repair_seconds and (waiting := self.waiting):
                from unified_state.project.workspace.waiting_events import take_waiting

                problem = take_waiting(archive, waiting, self.seconds)
            result = action(archive) if self.around_use is None else self._use_between(self.around_use, archive, action)
            if problem is not None:  # a failing action reports itself
                self.report(problem)
            return result

    def _use_between(self, around: AroundUse, archive: Archive, action: Callable[[Archive], T]) -> T:
        has_quiet = os.path.isdir(os.path.join(self.settings.data_dir, QUIET_FOLDER))
        if around.catch_up and has_quiet and self.settings.enabled:
            around.catch_up(self, archive)
        result = action(archive)
        if read_enforcement(archive)[1] is None or (self.repair_seconds and has_reminders(self.place)):
            around.settle(self, archive)
        return result

    def _open_archive(self) -> Archive:
        if not self.history.endswith(JOURNAL):
            return Archive(self.place.archive_path, seconds=self.seconds, mask=self.mask)
        from unified_state.archive.journalled_archive import JournalledArchive  # few users choose it

        return JournalledArchive(self.history, seconds=self.seconds, mask=self.mask)

    def _check(self, archive: Archive) -> None:
        """Raise ArchiveUnavailableError for another repository's archive, and DamagedArchiveError if an index of items
        is incomplete. A prompt skips the second check.
        """
        if self.place.id:
            check_owner(archive, self.place.id)
        if self.repair_seconds and not archive.has_journal:
            from unified_state.archive.schema.archive_check import ledger_problem

            problem = ledger_problem(archive.connection)
            if problem is not None:
                raise damaged(archive.path, problem)

    def author(self) -> Author:
        """Return the author of an item recorded here now: origin, session, worktree, commit and branch of HEAD."""
        from unified_state.ledger.record_item import Author

        commit, branch = self.head()
        return Author(
            origin=self.origin,
            session_id=self.session_id,
            commit=commit,
            branch=branch,
            worktree=self.place.repository.worktree,
        )

    def head(self) -> tuple[str | None, str | None]:
        """Return commit and branch of the worktree's HEAD."""
        commit, branch = read_head(self.place.repository)
        return commit, None if branch is None else self.mask(branch)

    def session_number(self, archive: Archive, now: int, pid: int | None = None) -> int:
        """Return the number of this workspace's session in the archive, and update the time of its last activity."""
        return touch_session(
            archive, self.session_id or LOCAL_SESSION, now, worktree=self.place.repository.worktree, pid=pid
        )


def open_workspace(
    folder: str,
    session_id: str | None,
    *,
    report: Callable[[str], None],
    origin: str = INFERRED,
    create: bool = True,
    around_use: AroundUse | None = None,
    shell: str = "",
) -> Workspace:
    """Return the workspace of a folder. `session_id` defaults to the session of the client that started this process.
    Without `create` nothing is created, and a reader waits only a little for a writer. `shell` is as for `locate`.

    Raises SettingError if the value of a setting is invalid.
    """
    from unified_state.hosts.transcripts.rules.hosts import SESSION_VARIABLES, session_in  # no hook opens it so

    environ = environment()
    place = locate(folder, load_settings(None, environ).data_dir, create=create, shell=shell)
    settings = load_settings(place.repository.worktree, environ, place.repository.owner)
    if settings.unusable:
        raise SettingError(settings.unusable[0], "`unified-state config` shows every setting and where it comes from")
    for line in (*settings.ignored, *filter(None, [place.notice])):
        report(line)
    is_agents = any(map(environ.get, SESSION_VARIABLES))
    return Workspace(
        place,
        settings,
        report,
        session_id=session_id or (session_in(environ) if is_agents else None),
        origin=origin,
        around_use=around_use,
        seconds=WRITER_SECONDS if create else READER_SECONDS,
    )


def in_session_of_client(workspace: Workspace) -> Workspace:
    """Return the workspace with the current session of its client. A server outlives a client's session."""
    began = workspace.session_id
    if began is None or workspace.is_empty:
        return workspace
    return workspace.replace(session_id=workspace.use(lambda archive: session_of_same_client(archive, began)))


def client_project(environ: Mapping[str, str], data_dir: str) -> str:
    """Return the folder of the project of the session whose client started this process; "" without one."""
    from unified_state.hosts.transcripts.rules.hosts import session_in  # no hook asks

    return session_project(session_in(environ), environ, data_dir)


def items_for_all(workspace: Workspace, kind: str | None = None) -> list[LedgerItem]:
    """Return what the user recorded for all projects, under refs with their mark; nothing where it is turned off.

    Only the user's own words count, whoever wrote into that archive. A failure to read it is reported.
    """
    shared = workspace.of_all_projects().replace(seconds=_GLOBAL_SECONDS, repair_seconds=0.0, around_use=None)
    if not workspace.settings.global_memory or shared.is_empty:
        return []
    from unified_state.ledger.item_table import ACTIVE, list_items
    from unified_state.ledger.rules.short_item import unenforced

    try:
        items = shared.use(lambda archive: list_items(archive, kind, [ACTIVE]))
    except UnifiedStateError as error:
        workspace.report(f"what holds for all projects cannot be read: {error}")
        return []
    own = (unenforced(item) for item in items if item.origin == USER_SAID and item.rule is None)
    return [item.replace(alias=shared.place.mark + item.alias) for item in own]
