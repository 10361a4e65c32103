"""Changes of the ledger: an item is recorded, or superseded by another.

Each is durable when its function returns, and `undo` takes it back. Nothing is merged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.errors import UsageError
from unified_state.ledger.change_log import ADDS, REPLACES, note_change
from unified_state.ledger.item_table import (
    ACTIVE,
    PROPOSED,
    SUPERSEDED,
    find_item,
    insert_item,
    link_items,
    next_alias,
    update_item,
)
from unified_state.lib.identifiers import mentioned_files
from unified_state.lib.record import Record
from unified_state.lib.text import text_hash
from unified_state.lib.times import new_uuid, to_text
from unified_state.model.constraint import INFERRED, USER_SAID
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, DECISION, ITEM_KINDS, MAIN_FIELDS, LedgerItem
from unified_state.settings import environment

Mask = Callable[[str], str]  # returns the text without its secrets

_OF_AUTHOR = ("origin", "session_id", "source_uuid", "commit", "branch", "capture_key")
LONGEST_TEXT = 1_000_000  # characters of one field
_GIT_SECONDS = 1.0


class Author(Record):
    """The author of an item, and the commit and branch at that moment.

    `quote` is the passage of the entry `source_uuid` that states the item; by default the item's own text. `uuid` is
    that of an item which waited for the archive. `capture_key` names the event that states the item. `is_typed` says
    that the user typed it as a prompt.
    """

    origin: str
    session_id: str | None = None
    source_uuid: str | None = None
    quote: str | None = None
    commit: str | None = None
    branch: str | None = None
    worktree: str | None = None
    uuid: str | None = None
    capture_key: str | None = None
    is_typed: bool = False


def record_item(
    archive: Archive,
    kind: str,
    body: dict[str, Any],
    author: Author,
    *,
    now: int,
    supersedes: str | None = None,
    proposed_for: Sequence[str] = (),
) -> LedgerItem:
    """Insert a new item and return it, with its texts masked and linked to the items that it supersedes.
    Raises NotAtGateError where it would replace a rule.

    With `proposed_for` it is a proposal, which supersedes the items of those UUIDs once the user accepts it. So is one
    that would supersede another item which its author may not change.
    """
    if supersedes is not None:
        from unified_state.ledger.gate import pass_gate_for

        replaced = _current(find_item(archive, supersedes), kind)
        if kind == CONSTRAINT or may_change(replaced, author):
            pass_gate_for([replaced], author.origin, "replaces")
        else:
            supersedes, proposed_for = None, [replaced.uuid]
    body = checked_body(kind, body, archive.masked)
    item = unnamed_item(kind, body, author, now).replace(status=PROPOSED if proposed_for else ACTIVE)
    item = item.replace(file_hashes=_versions(item, author))
    with archive.transaction():
        older = None if supersedes is None else _current(find_item(archive, supersedes), kind)
        item = item.replace(alias=next_alias(archive, kind))
        insert_item(archive, item)
        pairs = [] if older is None else [(older, replace_by(archive, older, item, now))]
        verb = REPLACES if pairs else ADDS
        note_change(archive, verb, author.origin, author.session_id, [*pairs, (None, item)], to_text(now))
        for uuid in proposed_for:
            link_items(archive, item, "changes", find_item(archive, uuid), to_text(now))
    return item


def unnamed_item(kind: str, body: dict[str, Any], author: Author, now: int) -> LedgerItem:
    """Return the item of a masked body, without an alias. Its quote is the author's, else its own text."""
    quote = author.quote or body[MAIN_FIELDS[kind]]
    files = mentioned_files("\n".join(value for value in body.values() if isinstance(value, str)))
    known = {name: getattr(author, name) for name in _OF_AUTHOR}
    return LedgerItem(
        uuid=author.uuid or new_uuid(now),
        alias="",
        kind=kind,
        body=body,
        status=ACTIVE,
        created_at=to_text(now),
        files=files,
        quote=quote,
        quote_hash=text_hash(quote),
        **known,
    )


def _versions(item: LedgerItem, author: Author) -> dict[str, str]:
    """Return the versions of the files that an item names. A bare file name counts if the worktree has only one file of
    that name that git does not ignore.
    """
    if author.worktree is None or not item.files:
        return {}
    from unified_state.project.file_versions import file_versions  # few items name files

    versions = file_versions(author.worktree, item.files)
    named = [path for path in item.files if path not in versions and "/" not in path]
    return {**versions, **file_versions(author.worktree, _found_by_name(author.worktree, named) if named else ())}


def _found_by_name(worktree: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the path of the file of each name, if there is only one."""
    from unified_state.project.git_command import run_git

    question = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    question += [f":(glob)**/{name}" for name in names]
    told = run_git(worktree, question, environment(), time.monotonic() + _GIT_SECONDS) or ""
    by_name: dict[str, list[str]] = {}
    for path in filter(None, told.split("\0")):
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    yield from (paths[0] for paths in by_name.values() if len(paths) == 1)


def supersede(archive: Archive, ref: str, by: str, author: Author, *, now: int) -> LedgerItem:
    """Mark a decision as superseded by another recorded one, and return the other one. Raises NotAtGateError for what
    the author may not change.
    """
    if not may_change(find_item(archive, ref), author):
        from unified_state.ledger.gate import pass_gate

        pass_gate(author.origin, f"supersedes {find_item(archive, ref).alias}")
    with archive.transaction():
        older, newer = _current(find_item(archive, ref), DECISION), _current(find_item(archive, by), DECISION)
        if older.uuid == newer.uuid:
            message = f"{older.alias} cannot supersede itself"
            raise UsageError(message, "name the decision that holds now with --by")
        pairs = [(older, replace_by(archive, older, newer, now))]
        note_change(archive, REPLACES, author.origin, author.session_id, pairs, to_text(now))
    return newer


def may_change(item: LedgerItem, author: Author) -> bool:
    """Return whether an author may change an item: the user any, a program what a model recorded, if that is no rule
    and no proposal.
    """
    is_models = item.status == ACTIVE and item.origin == INFERRED and item.kind != CONSTRAINT
    return author.origin == USER_SAID or is_models


def replace_by(archive: Archive, older: LedgerItem, newer: LedgerItem, now: int) -> LedgerItem:
    """Let an item supersede an older one, and return the older one. Call it in a transaction."""
    change = {"status": SUPERSEDED, "superseded_by": newer.uuid, "changed_at": to_text(now)}
    if older.kind != DECISION:  # the state file tells only decisions that were changed
        change["paged_out_at"] = to_text(now)
    replaced = older.replace(**change)
    update_item(archive, replaced)
    link_items(archive, newer, "supersedes", older, to_text(now))
    return replaced


def _current(item: LedgerItem, kind: str) -> LedgerItem:
    if of_kind(item, kind).status == SUPERSEDED:
        message = f"{item.alias} is already superseded"
        raise UsageError(message, f"supersede the current {kind}")
    return item


def of_kind(item: LedgerItem, kind: str) -> LedgerItem:
    if item.kind != kind:
        message = f"{item.alias} is a {item.kind}, not a {kind}"
        raise UsageError(message, f"{kind}s have refs such as {ALIAS_LETTERS[kind]}1")
    return item


def checked_body(kind: str, body: dict[str, Any], mask: Mask) -> dict[str, Any]:
    """Return a body with its texts masked. Only the main text has to be there."""
    second = ITEM_KINDS[kind].second[0]
    return {name: checked(name, value, mask) if value or name != second else "" for name, value in body.items()}


def checked(name: str, value: Any, mask: Mask) -> Any:
    """Return a field with its texts masked. Raises UsageError for a text that is empty or too long."""
    if isinstance(value, dict):
        return {key: checked(name, entry, mask) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [checked(name, entry, mask) for entry in value]
    if not isinstance(value, str):
        return value
    if not value.strip():
        message = f"{name} is empty"
        raise UsageError(message, "say it in a few words")
    if len(value) > LONGEST_TEXT:
        message = f"{name} has {len(value):,} characters"
        raise UsageError(message, f"at most {LONGEST_TEXT:,}; long output is in the archive already")
    return mask(value)
