"""Recording in a JSON history: items, work, notes and saves, and the state file after each. What is returned is
durable.

An alias is chosen under the history's lock, behind all that the state file shows: an archive that cannot be used now
has given those. Items are not compared with each other, and nothing is enforced.
"""

from __future__ import annotations

from unified_state.errors import NotFoundError, StorageError, TierError, UsageError
from unified_state.records.history import StoredItem, StoredLink
from unified_state.records.item import ALIAS_LETTERS, CONSTRAINT, DECISION, QUESTION
from unified_state.rules.newer import time_behind
from unified_state.rules.short_form import short_form
from unified_state.rules.timestamps import to_text
from unified_state.services.clock import current_time
from unified_state.services.gate import pass_gate_for
from unified_state.services.json_tier.carrying import carried_items, highest_number
from unified_state.services.json_tier.history import open_history
from unified_state.services.json_tier.projecting import JsonProjection
from unified_state.services.projection import Projected
from unified_state.services.recording import checked, unnamed_item
from unified_state.sources.file_versions import file_versions
from unified_state.storage.ledger import ACTIVE, PROPOSED, RESOLVED, SUPERSEDED
from unified_state.storage.sessions import LOCAL_SESSION
from unified_state.storage.tiers.json_desk import NOTES, WORK
from unified_state.storage.tiers.json_tables import Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from unified_state.records.item import Entry
    from unified_state.services.sourcing import Source
    from unified_state.services.workspace import Workspace


class JsonWriter:
    """The verbs of a workspace that records without an archive; `reason` is why, where it should have one."""

    def __init__(self, workspace: Workspace, reason: str | None = None) -> None:
        self._workspace = workspace
        self._history = open_history(workspace.place, reason)
        self._store = self._history.store
        self.folder = self._history.files.folder

    def add(
        self, kind: str, body: dict[str, Any], *, supersedes: str | None = None, source: Source | None = None
    ) -> Entry:
        """A new item, in place of the one it supersedes, if any."""
        now, author = current_time(), self._workspace.author()
        if source is not None:
            author = author.replace(origin=source.origin, source_uuid=source.uuid, quote=source.quote)
        body = {name: checked(name, value, self._workspace.masker) for name, value in body.items()}
        if supersedes is not None:
            pass_gate_for(self._store.find_items(supersedes), author.origin, "replaces")
        if "scope" in body:
            self._workspace.advise("it is not enforced: that needs the SQLite archive")
        item = unnamed_item(kind, body, author, now)
        versions = file_versions(author.worktree, item.files, now) if author.worktree else {}
        with self._history.files:
            older = None if supersedes is None else self._current(supersedes, kind)
            new = StoredItem(**item.replace(alias=self._next_alias(kind, now), file_hashes=versions).as_dict())
            replaced = [] if older is None else self._replaced(older, new, now)
            self._store.append([new, *replaced])
            (kept,) = self._store.find_items(new.uuid)
        return self._shown(kept, now)

    def supersede(self, ref: str, by: str) -> Entry:
        """A decision takes the place of an earlier one, both of which are recorded."""
        now = current_time()
        with self._history.files:
            older, newer = self._current(ref, DECISION), self._current(by, DECISION)
            if older.uuid == newer.uuid:
                message = f"{older.alias} cannot take its own place"
                raise UsageError(message, "name the decision that holds now with --by")
            self._store.append(self._replaced(older, newer, now))
        return self._shown(newer, now)

    def resolve(self, ref: str, resolution: str) -> Entry:
        """Close an open question."""
        now = current_time()
        said = checked("resolution", resolution, self._workspace.masker)
        return self._change(ref, QUESTION, now, {"resolution": said, "resolvedAt": to_text(now)}, status=RESOLVED)

    def lift(self, ref: str) -> Entry:
        """Lift a constraint. Only the user does."""
        now = current_time()
        pass_gate_for([self._in_force(ref)], self._workspace.origin, "lifts")
        with self._history.files:
            self._in_force(ref)
            said = {"resolution": "lifted by the user", "resolvedAt": to_text(now)}
            return self._change(ref, CONSTRAINT, now, said, status=RESOLVED, paged_out_at=to_text(now))

    def _in_force(self, ref: str) -> StoredItem:
        found = self._find(ref, CONSTRAINT)
        if found.status not in (ACTIVE, PROPOSED):
            message = f"{found.alias} is {found.status} already"
            raise UsageError(message, "`unified-state constraint list` shows those that hold")
        return found

    def accept(self, ref: str) -> Entry:
        """What came as a proposal waits for an archive."""
        message = f"{ref} cannot be accepted or dismissed without the SQLite archive"
        raise TierError(message, "docs/explanation/tiers.md tells what works without")

    dismiss = accept

    def change_work_item(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Change the given fields of what the session works on; the whole work item as it is now."""
        now, author, mask = current_time(), self._workspace.author(), self._workspace.masker.text
        masked = {name: mask(value) if isinstance(value, str) else value for name, value in changes.items()}
        self._note_work(now, author.branch, author.commit, masked)
        self._show(now)
        item: dict[str, Any] = self._history.desk.read()[WORK][self._session]["work_item"]
        return item

    def note(self, highlights: Sequence[str], actions: Sequence[str] | None) -> None:
        """Record highlights, and actions in place of those that are open; None leaves these as they are."""
        mask, at, owner = self._workspace.masker.text, to_text(current_time()), self._workspace.session_id

        def change(desk: dict[str, Any]) -> None:
            if actions is not None:
                for note in desk[NOTES]:
                    if note["kind"] == "action" and note.get("session_id") in {None, self._session}:
                        note.setdefault("done_at", at)
            for kind, texts in (("highlight", highlights), ("action", actions or ())):
                desk[NOTES] += [{"session_id": owner, "kind": kind, "text": mask(text), "at": at} for text in texts]

        self._history.desk.change(change)

    def save(self, trigger: str) -> Projected:
        """Save with the git state of this moment."""
        from unified_state.settings import environment
        from unified_state.sources.git_python import read_git_with_gitpython

        git, now = read_git_with_gitpython(self._workspace.place.repository.worktree, environment()), current_time()
        self._note_work(now, git.branch, git.commit, {})
        return Projected(JsonProjection(self._history, self._workspace, now).save(trigger, git))

    def refresh(self, leaves: Callable[[str], bool] | None = None) -> Projected:
        """Write the state file as the history has it, if it is not so already."""
        return Projected(JsonProjection(self._history, self._workspace, current_time()).refresh(leaves))

    @property
    def _session(self) -> str:
        return self._workspace.session_id or LOCAL_SESSION

    def _next_alias(self, kind: str, now: int) -> str:
        """The alias behind all that were given here and that the state file shows."""
        letter = ALIAS_LETTERS[kind]
        given = [name[1:] for name in Tables(self._history.files).taken if name[:1] == letter]
        shown = highest_number(JsonProjection(self._history, self._workspace, now).present(), kind)
        return f"{letter}{max([shown, *(int(number) for number in given if number.isdecimal())]) + 1}"

    def _find(self, ref: str, kind: str) -> StoredItem:
        """An item of the kind. Raises NotFoundError, and says so where it is an archive's."""
        found = self._store.find_items(ref)
        if not found:
            present = JsonProjection(self._history, self._workspace, 0).present()
            if any(item.alias == ref.upper() for item in carried_items(present, (), 0)):
                message = f"{ref} lies in the archive, which cannot be used now"
                raise NotFoundError(message, self._history.reason or "set tier to sqlite to change it")
            message = f"there is no item {ref}"
            raise NotFoundError(message, "`unified-state search` finds items and turns")
        if found[0].kind != kind:
            message = f"{found[0].alias} is a {found[0].kind}, not a {kind}"
            raise UsageError(message, f"{kind}s have refs such as {ALIAS_LETTERS[kind]}1")
        return found[0]

    def _current(self, ref: str, kind: str) -> StoredItem:
        found = self._find(ref, kind)
        if found.status == SUPERSEDED:
            message = f"{found.alias} is superseded already"
            raise UsageError(message, f"supersede the {kind} that is current now")
        return found

    def _replaced(self, older: StoredItem, newer: StoredItem, now: int) -> list[StoredItem | StoredLink]:
        at = time_behind(older.changed_at, to_text(now))
        changed = older.replace(status=SUPERSEDED, superseded_by=newer.uuid, changed_at=at, estimate=None)
        return [changed, StoredLink(newer.uuid, older.uuid, "supersedes", at)]

    def _change(self, ref: str, kind: str, now: int, said: dict[str, Any], **fields: Any) -> Entry:
        with self._history.files:
            found = self._find(ref, kind)
            changed = found.replace(
                body={**found.body, **said},
                changed_at=time_behind(found.changed_at, to_text(now)),
                estimate=None,
                **fields,
            )
            self._store.append([changed])
        return self._shown(changed, now)

    def _note_work(self, now: int, branch: str | None, commit: str | None, item: dict[str, Any]) -> None:
        session, worktree = self._session, self._workspace.place.repository.worktree
        branch = branch and self._workspace.masker.text(branch)

        def change(desk: dict[str, Any]) -> None:
            before = desk[WORK].get(session, {})
            work_item = {**(before.get("work_item") or {}), **item}
            told = {"work_item": work_item, "branch": branch, "commit": commit, "worktree": worktree, "seen_at": now}
            desk[WORK][session] = {**before, **told}

        self._history.desk.change(change)

    def _shown(self, item: StoredItem, now: int) -> Entry:
        self._show(now)
        return short_form(item)

    def _show(self, now: int) -> None:
        """Write the file. The history has everything already, so one that cannot be written is told, not raised."""
        try:
            JsonProjection(self._history, self._workspace, now).refresh()
        except StorageError as error:
            self._workspace.report(f"recorded, but {error}")
