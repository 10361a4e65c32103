"""Recording facts: what a rule of capture found becomes an item of the ledger, once, whatever became of it since.

What the state file shows of it is bounded here, since hooks never count tokens: it has the newest facts of each rule,
and the ledger has all.
"""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.capture.rules.client_tools import ANSWER, APPROVED_PLAN
from unified_state.capture.rules.commits import COMMIT, PULL_REQUEST
from unified_state.capture.rules.failed_calls import ERROR, FAILED_EDIT, REFUSED_CALL
from unified_state.ledger.item_table import (
    ACTIVE,
    RESOLVED,
    SUPERSEDED,
    find_item,
    insert_item,
    items_of_rule,
    link_items,
    next_alias,
    update_item,
)
from unified_state.lib.identifiers import mentioned_files, relative_path
from unified_state.lib.text import escape_surrogates, text_hash
from unified_state.lib.times import latest_time, new_uuid, to_text
from unified_state.model.hook_event import Moment
from unified_state.model.item import EVIDENCE, Fact, LedgerItem
from unified_state.model.step import Step
from unified_state.project.file_versions import file_versions

# How many of what a rule captured the state file shows, and so a session start reads.
_IN_FILE = {ANSWER: 20, APPROVED_PLAN: 4, ERROR: 3, COMMIT: 3, PULL_REQUEST: 2, FAILED_EDIT: 5, REFUSED_CALL: 5}
_RECENT = 600_000  # milliseconds; how HEAD and the files are now tells nothing of a step that is older
_EARLIER = 30  # items among which the one is looked for that a new one supersedes


class FactRecorder:
    """Records the facts of one session, within one transaction."""

    def __init__(self, archive: Archive, session: int, moment: Moment) -> None:
        self._archive = archive
        self.session_id, root, worktree = archive.row(
            "SELECT session_id, root, worktree FROM session WHERE id = ?", session
        )
        self.root: str = root or ""
        self._worktree = worktree if worktree == root else None  # to which the paths are relative
        self._moment = moment

    def record(self, fact: Fact, step: Step, number: int = 0) -> LedgerItem | None:
        """The new item; None where this fact of this step was captured before. `number` tells the facts of one rule in
        one step apart.
        """
        key = fact.key or f"{fact.rule}:{step.uuid}:{step.block}:{number}"
        if was_captured(self._archive, key):
            return None
        item = self._new_item(fact, step, key)
        older = self._superseded(fact)
        insert_item(self._archive, item)
        if fact.rule in _IN_FILE:
            keep_newest_in_file(self._archive, fact.rule, _IN_FILE[fact.rule], item.created_at, self._moment.now)
        for one in older:
            change = {"status": SUPERSEDED, "superseded_by": item.uuid, "changed_at": item.created_at}
            update_item(self._archive, one.replace(**change))
            link_items(self._archive, item, "supersedes", one, item.created_at)
        return item

    def _new_item(self, fact: Fact, step: Step, key: str) -> LedgerItem:
        """The item that a fact of a step is."""
        at, files = to_text(step.at), self._files(fact)
        commit, branch = self._moment.head() if self._is_recent(step) else (None, None)
        quote = escape_surrogates(fact.quote)
        return LedgerItem(
            uuid=new_uuid(max(0, step.at)),
            alias=next_alias(self._archive, fact.kind),
            kind=fact.kind,
            body=fact.body,
            status=fact.status,
            origin=fact.origin,
            created_at=at,
            session_id=self.session_id,
            source_uuid=step.uuid,
            commit=commit,
            branch=branch,
            files=files,
            file_hashes=self._versions(fact, step, files),
            paged_out_at=None if fact.status == ACTIVE else at,
            quote=quote,
            quote_hash=text_hash(quote),
            rule=fact.rule,
            capture_key=key,
        )

    def fails(self, item: LedgerItem, tool: str, call: str, step: Step) -> None:
        """The item tells of a call that failed: when the same call succeeds later on, it is resolved."""
        if call:
            failing = self.root, tool, text_hash(call), item.uuid, step.at
            self._archive.run("INSERT OR IGNORE INTO failing VALUES (?, ?, ?, ?, ?)", *failing)

    def succeeds(self, tool: str, call: str, step: Step) -> None:
        """A call succeeded: what told of its failures is resolved, and leaves the state file."""
        at, failing = to_text(step.at), "SELECT item FROM failing WHERE root = ? AND tool = ? AND call = ? AND at < ?"
        for (uuid,) in self._archive.rows(failing, self.root, tool, text_hash(call), step.at):
            self._archive.run("DELETE FROM failing WHERE item = ?", uuid)
            item = find_item(self._archive, uuid)
            if item.status == ACTIVE:
                body = {**item.body, "resolution": "the same call succeeded", "resolvedAt": at}
                update_item(
                    self._archive,
                    item.replace(status=RESOLVED, body=body, changed_at=at, paged_out_at=at),
                )

    def _superseded(self, fact: Fact) -> list[LedgerItem]:
        """What the fact takes the place of: an earlier answer to the same question, an earlier form of the plan."""
        if not fact.replaces or fact.status != ACTIVE:
            return []
        earlier = items_of_rule(self._archive, fact.rule, self.session_id, _EARLIER)
        return [item for item in earlier if fact.replaces in {item.body.get("question"), item.body.get("title")}]

    def _files(self, fact: Fact) -> tuple[str, ...]:
        texts = [value for value in fact.body.values() if isinstance(value, str)]
        named = fact.files or mentioned_files("\n".join(texts))
        return tuple(dict.fromkeys(relative_path(path, self.root) for path in named))

    def _versions(self, fact: Fact, step: Step, files: tuple[str, ...]) -> dict[str, str]:
        """The versions of the files as they were, where that is now; what failed or was made is not about them."""
        if fact.kind == EVIDENCE or self._worktree is None or not files or not self._is_recent(step):
            return {}
        return file_versions(self._worktree, files)

    def _is_recent(self, step: Step) -> bool:
        return abs(self._moment.now - step.at) <= _RECENT


def was_captured(archive: Archive, key: str) -> bool:
    """Whether this was captured before, even if it was dismissed or forgotten since."""
    return (
        archive.row(
            "SELECT 1 FROM item WHERE capture_key = ?1 UNION SELECT 1 FROM uncaptured WHERE capture_key = ?1", key
        )
        is not None
    )


def keep_newest_in_file(archive: Archive, rule: str, limit: int, at: str, now: int) -> None:
    """Of what a rule captured, only the newest stay in the state file, at whatever time they were archived."""
    archive.run(
        "UPDATE item SET paged_out_at = ?2 WHERE rule = ?3 AND paged_out_at IS NULL AND id NOT IN "
        "(SELECT id FROM item WHERE rule = ?3 AND paged_out_at IS NULL "
        "ORDER BY created_at > ?1, created_at DESC, id DESC LIMIT ?4)",
        latest_time(now),
        at,
        rule,
        limit,
    )
