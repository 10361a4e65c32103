"""Writing into the archive: something is recorded in the ledger, and the state file of the worktree is brought up to
date.
"""

from __future__ import annotations

import os

from unified_state.errors import NotFoundError, StorageError
from unified_state.lib.times import current_time, to_text
from unified_state.memory.archive.session_notes import add_notes, close_notes
from unified_state.memory.archive.sessions import change_work, read_work
from unified_state.memory.ledger.proposals import accept, dismiss
from unified_state.memory.ledger.record_item import lift, record_item, resolve, supersede
from unified_state.memory.ledger.relate_items import hints
from unified_state.memory.ledger.rules.short_item import short_form
from unified_state.memory.manager.projection import Projected, Projection
from unified_state.model.item import LedgerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.ledger.find_sources import Source
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.item import Entry

    T = TypeVar("T")


class ArchiveWriter:
    """Records in the ledger of a workspace and writes its state file. What is returned is durable. `recorded` is what
    was recorded, also where something went wrong afterwards.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.recorded: list[Any] = []

    def add(
        self, kind: str, body: dict[str, Any], *, supersedes: str | None = None, source: Source | None = None
    ) -> Entry:
        """A new item; the one it supersedes, if any, is marked in the same transaction. `source` are the archived words
        that say it, where those are known.
        """
        author = self._workspace.author()
        if source is not None:
            author = author.replace(origin=source.origin, source_uuid=source.uuid, quote=source.quote)

        def action(archive: Archive, now: int) -> LedgerItem:
            item = record_item(
                archive,
                kind,
                body,
                author,
                masker=self._workspace.masker,
                now=now,
                supersedes=supersedes,
            )
            for line in hints(archive, item):
                self._workspace.advise(line)
            if "scope" in body and not self._workspace.enforces:
                self._workspace.advise("it is enforced once the archive can be used")
            return item

        return short_form(self._write(action))

    def supersede(self, ref: str, by: str) -> Entry:
        """A decision takes the place of an earlier one, both of which are recorded; the one that holds now."""
        return short_form(self._write(lambda archive, now: supersede(archive, ref, by, now=now)))

    def resolve(self, ref: str, resolution: str) -> Entry:
        """Close an open question."""
        return short_form(
            self._write(lambda archive, now: resolve(archive, ref, resolution, masker=self._workspace.masker, now=now))
        )

    def accept(self, ref: str) -> Entry:
        """Make a proposal a fact."""
        return short_form(self._write(lambda archive, now: accept(archive, ref, self._workspace.origin, now)))

    def dismiss(self, ref: str) -> Entry:
        """Make a proposal none."""
        return short_form(self._write(lambda archive, now: dismiss(archive, ref, self._workspace.origin, now)))

    def lift(self, ref: str) -> Entry:
        """Lift a constraint. Raises NotFoundError where the ledger does not know it; a hook that enforced it, or that
        enforced what nobody knows any more, is ended all the same.
        """
        author, masker = self._workspace.author(), self._workspace.masker
        try:
            return short_form(self._write(lambda archive, now: lift(archive, ref, author, masker=masker, now=now)))
        except NotFoundError:
            from unified_state.constraints.compile_constraints import end_lost

            if end_lost(self._workspace, ref):
                self._workspace.report(f"{ref} is not known here any more; it is not enforced any more either")
            raise

    def change_work_item(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Change the given fields of what the session works on; the whole work item as it is now."""
        masked = {
            name: self._workspace.masker.text(value) if isinstance(value, str) else value
            for name, value in changes.items()
        }

        def action(archive: Archive, now: int) -> dict[str, Any]:
            author = self._workspace.author()
            with archive.transaction():
                session = self._workspace.session_number(archive, now)
                item = {**read_work(archive, session).get("workItem", {}), **masked}
                change_work(archive, session, {"workItem": item, "branch": author.branch, "commit": author.commit})
            return item

        return self._write(action)

    def note(self, highlights: Sequence[str], actions: Sequence[str] | None) -> None:
        """Record highlights, and actions in place of those that are open; None leaves these as they are."""

        def action(archive: Archive) -> None:
            now = current_time()
            self._projection(archive, now).check()
            mask, at = self._workspace.masker.text, to_text(now)
            with archive.transaction():
                session = self._workspace.session_number(archive, now)
                owner = session if self._workspace.session_id else None
                add_notes(archive, owner, "highlight", map(mask, highlights), at)
                if actions is not None:
                    close_notes(archive, session, "action", at)
                    add_notes(archive, owner, "action", map(mask, actions), at)

        self._workspace.use(action)

    def save(self, trigger: str) -> Projected:
        """Save with the git state of this moment."""
        from unified_state.memory.repository.git_library import read_git_with_gitpython
        from unified_state.memory.state_file.calibrate import calibrate
        from unified_state.memory.workspace.link import note_about
        from unified_state.settings import environment

        git = read_git_with_gitpython(self._workspace.place.repository.worktree, environment())

        def action(archive: Archive) -> Projected:
            now = current_time()
            projection = self._projection(archive, now)
            projection.check()
            with archive.transaction():
                session = self._workspace.session_number(archive, now)
                change_work(archive, session, {"branch": git.branch, "commit": git.commit})
            calibrate(archive, now)
            return self._told(projection.save(trigger, git))

        saved = self._workspace.use(action)
        note_about(self._workspace.place)
        return saved

    def refresh(self, leaves: Callable[[str], bool] | None = None) -> Projected:
        """Write the state file as the ledger has it, if it is not so already; texts that others wrote into it go where
        `leaves` says so.
        """
        return self._workspace.use(
            lambda archive: self._told(self._projection(archive, current_time()).refresh(leaves))
        )

    def _write(self, action: Callable[[Archive, int], T]) -> T:
        """Do it, then write the file."""

        def whole(archive: Archive) -> T:
            now = current_time()
            projection = self._projection(archive, now)
            projection.check()
            is_new = not archive.row("SELECT 1 FROM item LIMIT 1")
            if is_new and os.path.lexists(self._workspace.place.state_path):
                self._show(projection)  # the new archive counts on where the older state file ended
            result = action(archive, now)
            self.recorded.append(short_form(result) if isinstance(result, LedgerItem) else result)
            self._show(projection)
            return result

        return self._workspace.use(whole)

    def _show(self, projection: Projection) -> None:
        """Write the file. The ledger has everything already, so a file that cannot be written is told, not raised."""
        try:
            self._told(projection.refresh())
        except StorageError as error:
            self._workspace.report(f"recorded, but {error}")

    def _told(self, projected: Projected) -> Projected:
        """A write of which a person was told what they should know."""
        for line in projected.problems:
            self._workspace.report(line)
        return projected

    def _projection(self, archive: Archive, now: int) -> Projection:
        return Projection(
            archive, self._workspace.place, self._workspace.settings, self._workspace.masker, now, _count_tokens
        )


def _count_tokens(texts: Sequence[str]) -> list[int]:
    from unified_state.lib.tokens import (
        count_tokens,  # loads tiktoken, and only when a bound could not decide
    )

    return count_tokens(texts)
