"""A workspace: what a use case needs in one folder. Opens the archive, and begins a new one where it is damaged."""

from __future__ import annotations

import os

from unified_state.constraints.constraint_table import read_stamp
from unified_state.errors import (
    ArchiveUnavailableError,
    DamagedArchiveError,
    NewerArchiveError,
    StorageError,
    TierError,
)
from unified_state.lib.stdlib import NO_SQLITE, has_sqlite
from unified_state.memory.archive.archive import OWNER, Archive, damaged
from unified_state.memory.archive.sessions import LOCAL_SESSION, touch_session
from unified_state.memory.repository.place import KEY_FILE, journal_folder, may_have_journals
from unified_state.model.constraint import INFERRED

JSON_TIER = "json"
_LEAST_SALVAGE_SECONDS = 3.0
_PATIENT = 60.0  # seconds for merging: those of commands
# The archive cannot be used now; whatever else goes wrong is no reason to keep anything elsewhere.
UNAVAILABLE = (ArchiveUnavailableError, NewerArchiveError, DamagedArchiveError)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from unified_state.memory.ledger.record_item import Author
    from unified_state.memory.repository.place import Place
    from unified_state.memory.secrets.masker import Masker
    from unified_state.settings import Settings

    T = TypeVar("T")


class Workspace:
    """The repository of a folder, its archive and settings, and who is at work there.

    `origin` is whose word counts: `user_said` in the user's own terminal, `inferred` for a model. `report` is told, in
    one line, what a person should know: that something was damaged and set aside; `advise` what may help them.
    `seconds` is how long to wait for another writer, `merge_seconds` how long it may take to merge what was kept
    elsewhere.
    """

    enforces = True  # whether what is recorded here is enforced
    health: str | None = None  # what a session is to be told of it

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
        self.seconds = seconds
        self._merge_seconds = merge_seconds
        self._masker: Masker | None = None

    @property
    def masker(self) -> Masker:
        """What masks secrets here. Loading its rules takes longer than a search, which writes no text."""
        if self._masker is None:
            from unified_state.memory.secrets.masker import Masker

            self._masker = Masker(self.place.key_folder, enabled=self.settings.mask_secrets)
        return self._masker

    def _mask(self, text: str) -> str:
        return self.masker.text(text)

    @property
    def keeps_journal(self) -> bool:
        """Whether the history is kept as lines of JSON, because the user chose so."""
        return self.settings.tier == JSON_TIER

    @property
    def journal(self) -> str | None:
        """The folder of the journal that this workspace records in, if it does."""
        return journal_folder(self.place) if self.keeps_journal else None

    @property
    def waiting(self) -> list[str]:
        """The folders in which something waits to be merged."""
        if not may_have_journals(self.place):
            return []
        from unified_state.memory.journal.journal_places import waiting_journals  # hardly ever, and every hook asks

        return waiting_journals(self.place, is_tier=self.keeps_journal)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever recorded here."""
        return not (os.path.exists(self.journal or self.place.archive_path) or self.has_written or self.waiting)

    @property
    def has_written(self) -> bool:
        """Whether there is a state file that was written from an archive here."""
        return os.path.exists(self.place.digest_path) and os.path.exists(self.place.state_path)

    def use(self, action: Callable[[Archive], T]) -> T:
        """What the action makes of the open archive. A damaged one is set aside, and the action has a new one. Raises
        TierError where this Python has no SQLite.
        """
        if not has_sqlite():
            raise TierError(NO_SQLITE, "run `install` with a Python that has it: it looks for one")
        try:
            try:
                return self._use(action)
            except DamagedArchiveError as error:
                self._begin_anew(error)
            return self._use(action)
        except UNAVAILABLE as error:
            if waiting := self.waiting:
                error.hint = f"{error.hint}; what was recorded meanwhile is kept in {waiting[0]}"
            raise

    def _use(self, action: Callable[[Archive], T]) -> T:
        is_new = not os.path.exists(self.journal or self.place.archive_path)
        with self.open_archive() as archive:
            self._check(archive)
            if is_new and self.has_written:
                from unified_state.memory.workspace.mend_archive import refill

                refill(archive, self.place, self.masker, self.report, only_ours=True)
            if not os.path.exists(os.path.join(self.place.key_folder, KEY_FILE)):
                self._make_key()
            problem = self._merge_back(archive) if self.waiting else None
            result = self._settled(archive, action(archive))
        if problem is not None:  # a writer who fails says so anyway
            self.report(problem)
        return result

    def open_archive(self) -> Archive:
        """The archive, or that of the journal. While an archive is not shown, its items are, as the state file has
        them.
        """
        if self.journal is None:
            return Archive(self.place.archive_path, seconds=self.seconds, mask=self._mask)
        from unified_state.upkeep.stand_in.carry_items import open_journal  # few choose it

        place = self.place if os.path.exists(self.place.archive_path) else None
        return open_journal(self.journal, self.seconds, self.masker, carried=place)

    def _check(self, archive: Archive) -> None:
        """Raises ArchiveUnavailableError for another repository's archive, and DamagedArchiveError where items are not
        found any more that are there. A prompt does not wait for the latter.
        """
        if self.place.id and archive.meta(OWNER) != self.place.id:
            from unified_state.memory.archive.schema.archive_owner import check_owner

            check_owner(archive, self.place.id)
        if self._merge_seconds and self.journal is None:
            from unified_state.memory.archive.schema.ledger_check import ledger_problem

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
        from unified_state.upkeep.stand_in.merge_back import merge_back

        return merge_back(self, archive, self._merge_seconds)

    def _begin_anew(self, error: DamagedArchiveError) -> None:
        """Set the archive aside; what was replayed from a journal is only replayed again."""
        if self.journal is not None:
            from unified_state.memory.journal.journal_replay import drop_damaged

            drop_damaged(self.journal)
            return
        from unified_state.memory.workspace.mend_archive import begin_anew

        begin_anew(self.place, self.masker, error, self.report, self.salvage_seconds)

    @property
    def salvage_seconds(self) -> float | None:
        """How long it may take to bring what can be read into a new archive: a person waits, a hook is ended."""
        return max(self._merge_seconds, _LEAST_SALVAGE_SECONDS) if self._merge_seconds < _PATIENT else None

    def _settled(self, archive: Archive, result: T) -> T:
        """The result, and what hooks enforce is as the ledger says now."""
        if self.enforces and read_stamp(archive)[1] is None:
            from unified_state.constraints.compile_constraints import settle

            settle(archive, self)
        return result

    def author(self) -> Author:
        """Who records something here now, and where HEAD is."""
        from unified_state.memory.ledger.record_item import Author

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
        from unified_state.memory.repository.find_repository import read_head

        commit, branch = read_head(self.place.repository)
        return commit, None if branch is None else self.masker.text(branch)

    def session_number(self, archive: Archive, now: int, pid: int | None = None) -> int:
        """The number of this workspace's session."""
        return touch_session(
            archive, self.session_id or LOCAL_SESSION, now, worktree=self.place.repository.worktree, pid=pid
        )
