"""A workspace: what a use case needs in one folder. Opens the archive, and begins a new one where it is damaged."""

from __future__ import annotations

import os

from unified_state.errors import (
    ArchiveUnavailableError,
    DamagedArchiveError,
    NewerArchiveError,
    StorageError,
    TierError,
)
from unified_state.interpreter import has_sqlite
from unified_state.records.origin import INFERRED
from unified_state.services.place import KEY_FILE, waiting_histories
from unified_state.storage.archive import Archive, damaged
from unified_state.storage.enforcement import read_stamp
from unified_state.storage.owner import check_owner
from unified_state.storage.sessions import LOCAL_SESSION, touch_session

JSON_TIER = "json"
_LEAST_SALVAGE_SECONDS = 3.0
_PATIENT = 60.0  # seconds for merging: those of commands
# The archive cannot be used now; whatever else goes wrong is no reason to keep anything elsewhere.
UNAVAILABLE = (ArchiveUnavailableError, NewerArchiveError, DamagedArchiveError)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from unified_state.services.masking import Masker
    from unified_state.services.place import Place
    from unified_state.services.recording import Author
    from unified_state.settings import Settings

    T = TypeVar("T")


class Workspace:
    """The repository of a folder, its archive and settings, and who is at work there.

    `origin` is whose word counts: `user_said` in the user's own terminal, `inferred` for a model. `report` is told, in
    one line, what a person should know: that something was damaged and set aside; `advise` what may help them.
    `seconds` is how long to wait for another writer, `merge_seconds` how long it may take to merge what was kept
    elsewhere.
    """

    def __init__(
        self,
        place: Place,
        settings: Settings,
        *,
        report: Callable[[str], None],
        session_id: str | None = None,
        origin: str = INFERRED,
        seconds: float = 30.0,
        advise: Callable[[str], None] = lambda _line: None,
        merge_seconds: float = 60.0,
    ) -> None:
        self.place = place
        self.settings = settings
        self.session_id = session_id
        self.origin = origin
        self.report = report
        self.advise = advise
        self._seconds = seconds
        self._merge_seconds = merge_seconds
        self._masker: Masker | None = None

    @property
    def masker(self) -> Masker:
        """What masks secrets here. Loading its rules takes longer than a search, which writes no text."""
        if self._masker is None:
            from unified_state.services.masking import Masker

            self._masker = Masker(self.place.key_folder, enabled=self.settings.mask_secrets)
        return self._masker

    def _mask(self, text: str) -> str:
        return self.masker.text(text)

    @property
    def no_archive(self) -> str | None:
        """Why there is no archive here, neither now nor later; None where there is or should be one."""
        if self.settings.tier == JSON_TIER:
            return "tier is json"
        return None if has_sqlite() else "this Python has no SQLite"

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever recorded here."""
        has_lost = self.no_archive is None and self.has_written
        return not (os.path.exists(self.place.archive_path) or has_lost or waiting_histories(self.place))

    @property
    def has_written(self) -> bool:
        """Whether there is a state file that was written from an archive here."""
        return os.path.exists(self.place.digest_path) and os.path.exists(self.place.state_path)

    def use(self, action: Callable[[Archive], T]) -> T:
        """What the action makes of the open archive. A damaged one is set aside, and the action has a new one. Raises
        TierError where there is none to be opened.
        """
        if self.no_archive is not None:
            message = f"this needs the SQLite archive, and there is none: {self.no_archive}"
            raise TierError(message, "docs/explanation/tiers.md tells what works without")
        try:
            try:
                return self._use(action)
            except DamagedArchiveError as error:
                from unified_state.services.mending import begin_anew

                begin_anew(self.place, self.masker, error, self.report, self.salvage_seconds)
            return self._use(action)
        except UNAVAILABLE as error:
            waiting = waiting_histories(self.place)
            if waiting:
                error.hint = f"{error.hint}; what was recorded meanwhile is kept in {waiting[0]}"
            raise

    def _use(self, action: Callable[[Archive], T]) -> T:
        is_new = not os.path.exists(self.place.archive_path)
        with Archive(self.place.archive_path, seconds=self._seconds, mask=self._mask) as archive:
            self._check(archive)
            if is_new and self.has_written:
                from unified_state.services.mending import refill

                refill(archive, self.place, self.masker, self.report, only_ours=True)
            if not os.path.exists(os.path.join(self.place.key_folder, KEY_FILE)):
                self._make_key()
            problem = self._merge_back(archive) if waiting_histories(self.place) else None
            result = self._settled(archive, action(archive))
        if problem is not None:  # a writer who fails says so anyway
            self.report(problem)
        return result

    def _check(self, archive: Archive) -> None:
        """Raises ArchiveUnavailableError for another repository's archive, and DamagedArchiveError where items are not
        found any more that are there. A prompt does not wait for the latter.
        """
        if self.place.id:
            check_owner(archive, self.place.id)
        if self._merge_seconds:
            from unified_state.storage.ledger_check import ledger_problem

            problem = ledger_problem(archive.connection)
            if problem is not None:
                raise damaged(archive.path, problem)

    def _make_key(self) -> None:
        """Have the user's key before the disk is full: what is kept beside the state file is known to be ours by it."""
        try:
            self.masker.ensure_key()
        except StorageError:
            return  # whoever has something to mask says so

    def _merge_back(self, archive: Archive) -> str | None:
        """Take in what was kept elsewhere while the archive could not be used; what of it is not shown, if anything."""
        if not self._merge_seconds:
            return None
        from unified_state.services.json_tier.merging import merge_back

        return merge_back(self, archive, self._merge_seconds)

    @property
    def salvage_seconds(self) -> float | None:
        """How long it may take to bring what can be read into a new archive: a person waits, a hook is ended."""
        return max(self._merge_seconds, _LEAST_SALVAGE_SECONDS) if self._merge_seconds < _PATIENT else None

    def _settled(self, archive: Archive, result: T) -> T:
        """The result, and what hooks enforce is as the ledger says now."""
        if read_stamp(archive)[1] is None:
            from unified_state.services.enforcement import settle

            settle(archive, self)
        return result

    def author(self) -> Author:
        """Who records something here now, and where HEAD is."""
        from unified_state.services.recording import Author

        commit, branch = self.head()
        return Author(
            origin=self.origin,
            session_id=self.session_id,
            commit=commit,
            branch=branch,
            worktree=self.place.repository.worktree,
        )

    def head(self) -> tuple[str | None, str | None]:
        """Commit and branch of the worktree's HEAD now."""
        from unified_state.sources.repository import read_head

        commit, branch = read_head(self.place.repository)
        return commit, None if branch is None else self.masker.text(branch)

    def session_number(self, archive: Archive, now: int, pid: int | None = None) -> int:
        """The number of this workspace's session."""
        return touch_session(
            archive, self.session_id or LOCAL_SESSION, now, worktree=self.place.repository.worktree, pid=pid
        )


def open_workspace(
    folder: str,
    session_id: str | None,
    *,
    report: Callable[[str], None],
    advise: Callable[[str], None] = lambda _line: None,
    origin: str = INFERRED,
    create: bool = True,
) -> Workspace:
    """The workspace of a folder under the settings in force there. Raises SettingError for a value that cannot be used.

    Without a session id it is that of the client that started this process, if one did.
    """
    from unified_state.errors import SettingError
    from unified_state.rules.hosts import session_in
    from unified_state.services.place import locate
    from unified_state.settings import environment, load_settings

    environ = environment()
    place = locate(folder, load_settings(None, environ).data_dir, create=create)
    settings = load_settings(place.repository.worktree, environ)
    if settings.unusable:
        raise SettingError(settings.unusable[0], "`unified-state config` shows every setting and where it comes from")
    for line in (*settings.ignored, *filter(None, [place.notice])):
        report(line)
    return Workspace(
        place, settings, report=report, session_id=session_id or session_in(environ), origin=origin, advise=advise
    )


def program_workspace(project_dir: str | os.PathLike[str] | None, session_id: str | None) -> Workspace:
    """The workspace of a program, which is told by warnings what a person should know. Without a folder it is that of
    the current one.
    """
    import warnings

    def warn(line: str) -> None:
        warnings.warn(line, stacklevel=2)

    return open_workspace(os.path.abspath(project_dir or "."), session_id, report=warn)
