"""Changes of the ledger: an item is recorded, superseded, resolved, lifted, accepted or dismissed.

Each is durable when its function returns. Only the user decides on proposals. A dismissed proposal is not captured
again.
"""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.lib.identifiers import mentioned_files
from unified_state.lib.record import Record
from unified_state.lib.text import text_hash
from unified_state.lib.times import to_text
from unified_state.lib.uuids import new_uuid
from unified_state.memory.ledger.gate import NotAtGateError, pass_gate_for
from unified_state.memory.ledger.item_table import (
    ACTIVE,
    DISMISSED,
    PROPOSED,
    RESOLVED,
    SUPERSEDED,
    find_item,
    insert_item,
    link_items,
    next_alias,
    update_item,
)
from unified_state.memory.ledger.relate_items import relate
from unified_state.memory.ledger.rules.short_item import main_text, may_decide
from unified_state.memory.ledger.source_table import set_source
from unified_state.memory.repository.file_versions import file_versions
from unified_state.memory.working_set.working_set_table import files_named
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, DECISION, MAIN_FIELDS, QUESTION, LedgerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.secrets.masker import Masker

LONGEST_TEXT = 1_000_000  # characters of one field


class Author(Record):
    """The author of an item, and the commit and branch at that moment.

    `quote` is the passage of the entry `source_uuid` that states the item; by default the item's own text.
    """

    origin: str
    session_id: str | None = None
    source_uuid: str | None = None
    quote: str | None = None
    commit: str | None = None
    branch: str | None = None
    worktree: str | None = None


def record_item(
    archive: Archive,
    kind: str,
    body: dict[str, Any],
    author: Author,
    *,
    masker: Masker,
    now: int,
    supersedes: str | None = None,
    proposed_for: Sequence[str] = (),
) -> LedgerItem:
    """Insert a new item and return it, with its texts masked and linked to the items that it supersedes, repeats or
    contradicts. Raises NotAtGateError where it would replace a rule.

    With `proposed_for` it is a proposal, which supersedes the items of those UUIDs once the user accepts it.
    """
    if supersedes is not None:
        pass_gate_for([_current(find_item(archive, supersedes), kind)], author.origin, "replaces")
    body = {name: checked(name, value, masker) for name, value in body.items()}
    item = unnamed_item(kind, body, author, now).replace(status=PROPOSED if proposed_for else ACTIVE)
    item = item.replace(file_hashes=_versions(archive, item, author, now))
    with archive.transaction():
        older = None if supersedes is None else _current(find_item(archive, supersedes), kind)
        item = item.replace(alias=next_alias(archive, kind))
        insert_item(archive, item)
        if older is not None:
            _replace(archive, older, item, now)
        for uuid in proposed_for:
            link_items(archive, item, "changes", find_item(archive, uuid), to_text(now))
        relate(archive, item)
    return item


def unnamed_item(kind: str, body: dict[str, Any], author: Author, now: int) -> LedgerItem:
    """Return the item of a masked body, without an alias. Its quote is the author's, else its own text."""
    quote = author.quote or body[MAIN_FIELDS[kind]]
    files = mentioned_files("\n".join(value for value in body.values() if isinstance(value, str)))
    return LedgerItem(
        uuid=new_uuid(now),
        alias="",
        kind=kind,
        body=body,
        status=ACTIVE,
        origin=author.origin,
        created_at=to_text(now),
        session_id=author.session_id,
        source_uuid=author.source_uuid,
        commit=author.commit,
        branch=author.branch,
        files=files,
        quote=quote,
        quote_hash=text_hash(quote),
    )


def _versions(archive: Archive, item: LedgerItem, author: Author, now: int) -> dict[str, str]:
    """Return the versions of the files that an item names. A bare file name counts if sessions worked with only one
    file of that name.
    """
    if author.worktree is None or not item.files:
        return {}
    versions = file_versions(author.worktree, item.files, now)
    named = [path for path in item.files if path not in versions and "/" not in path]
    found = [paths[0] for path in named if len(paths := files_named(archive, path)) == 1]
    return {**versions, **file_versions(author.worktree, found, now)}


def supersede(archive: Archive, ref: str, by: str, *, now: int) -> LedgerItem:
    """Mark a decision as superseded by another recorded one, and return the other one."""
    with archive.transaction():
        older, newer = _current(find_item(archive, ref), DECISION), _current(find_item(archive, by), DECISION)
        if older.uuid == newer.uuid:
            message = f"{older.alias} cannot supersede itself"
            raise UsageError(message, "name the decision that holds now with --by")
        _replace(archive, older, newer, now)
    return newer


def _replace(archive: Archive, older: LedgerItem, newer: LedgerItem, now: int) -> None:
    change = {"status": SUPERSEDED, "superseded_by": newer.uuid, "changed_at": to_text(now), "estimate": None}
    if older.kind != DECISION:  # the state file tells only decisions that were changed
        change["paged_out_at"] = to_text(now)
    update_item(archive, older.replace(**change))
    link_items(archive, newer, "supersedes", older, to_text(now))


def resolve(archive: Archive, ref: str, resolution: str, *, masker: Masker, now: int) -> LedgerItem:
    """Close an open question with its answer, and return it."""
    resolution = checked("resolution", resolution, masker)
    with archive.transaction():
        question = _of_kind(find_item(archive, ref), QUESTION)
        body = {**question.body, "resolution": resolution, "resolvedAt": to_text(now)}
        changed = question.replace(status=RESOLVED, body=body, changed_at=to_text(now), estimate=None)
        update_item(archive, changed)
    return changed


def _current(item: LedgerItem, kind: str) -> LedgerItem:
    if _of_kind(item, kind).status == SUPERSEDED:
        message = f"{item.alias} is already superseded"
        raise UsageError(message, f"supersede the current {kind}")
    return item


def _of_kind(item: LedgerItem, kind: str) -> LedgerItem:
    if item.kind != kind:
        message = f"{item.alias} is a {item.kind}, not a {kind}"
        raise UsageError(message, f"{kind}s have refs such as {ALIAS_LETTERS[kind]}1")
    return item


def lift(archive: Archive, ref: str, author: Author, *, masker: Masker, now: int) -> LedgerItem:
    """Lift a constraint and return it. It leaves the state file and stays in the ledger.

    If the author is not the user, record a proposal to lift it and raise NotAtGateError.
    """
    constraint = in_force(archive, ref)
    try:
        pass_gate_for([constraint], author.origin, "lifts")
    except NotAtGateError as error:
        proposal = propose_lift(archive, constraint, author, masker=masker, now=now)
        error.hint += f" (`unified-state proposed accept {proposal.alias}` lifts it too)"
        raise
    with archive.transaction():
        constraint = in_force(archive, ref)
        at = to_text(now)
        body = {**constraint.body, "resolution": "lifted by the user", "resolvedAt": at}
        changed = constraint.replace(status=RESOLVED, body=body, changed_at=at, paged_out_at=at, estimate=None)
        update_item(archive, changed)
    return changed


def in_force(archive: Archive, ref: str) -> LedgerItem:
    """Return a constraint that holds or is proposed. Raises UsageError for another item."""
    constraint = _of_kind(find_item(archive, ref), CONSTRAINT)
    if constraint.status not in (ACTIVE, PROPOSED):
        message = f"{constraint.alias} is already {constraint.status}"
        raise UsageError(message, "`unified-state constraint list` shows those that hold")
    return constraint


def propose_lift(archive: Archive, constraint: LedgerItem, author: Author, *, masker: Masker, now: int) -> LedgerItem:
    """Return the proposal to lift a constraint: a decision that supersedes it once accepted. There is at most one."""
    text = masker.text(f"Lift {constraint.alias}: {main_text(constraint)}"[:LONGEST_TEXT])
    for (uuid,) in archive.rows(
        "SELECT from_uuid FROM item_link WHERE to_uuid = ? AND relation = 'changes'", constraint.uuid
    ):
        known = find_item(archive, uuid)
        if known.status == PROPOSED and main_text(known) == text:
            return known
    body = {"decision": text, "rationale": "the constraint was to be lifted, and not by the user", "reversible": True}
    return record_item(archive, DECISION, body, author, masker=masker, now=now, proposed_for=[constraint.uuid])


def checked(name: str, value: Any, masker: Masker) -> Any:
    """Return a field with its texts masked. Raises UsageError for a text that is empty or too long."""
    if isinstance(value, dict):
        return {key: checked(name, entry, masker) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [checked(name, entry, masker) for entry in value]
    if not isinstance(value, str):
        return value
    if not value.strip():
        message = f"{name} is empty"
        raise UsageError(message, "say it in a few words")
    if len(value) > LONGEST_TEXT:
        message = f"{name} has {len(value):,} characters"
        raise UsageError(message, f"at most {LONGEST_TEXT:,}; long output is in the archive already")
    return masker.text(value)


def accept(archive: Archive, ref: str, origin: str, now: int) -> LedgerItem:
    """Accept a proposal as the user's statement, and return it. It supersedes the items that it changes."""
    at = to_text(now)
    proposal = _proposal(archive, ref, origin)
    changed = changed_by(archive, proposal)
    pass_gate_for([proposal, *changed], origin, f"accepts {proposal.alias}, which confirms or replaces")
    with archive.transaction():
        item = _proposal(archive, ref, origin).replace(
            status=ACTIVE, origin=USER_SAID, changed_at=at, paged_out_at=None, estimate=None
        )
        update_item(archive, item)
        set_source(archive, item)  # from now on it is the user's statement
        for one in changed:
            older = find_item(archive, one.uuid)
            if older.status in (ACTIVE, PROPOSED):
                older = older.replace(status=SUPERSEDED, superseded_by=item.uuid, changed_at=at, estimate=None)
                update_item(archive, older)
                link_items(archive, item, "supersedes", older, at)
    return item


def dismiss(archive: Archive, ref: str, origin: str, now: int) -> LedgerItem:
    """Dismiss a proposal, and return it. It is not captured again."""
    pass_gate_for([_proposal(archive, ref, origin)], origin, "dismisses")
    with archive.transaction():
        item = _proposal(archive, ref, origin).replace(status=DISMISSED, changed_at=to_text(now))
        update_item(archive, item)
    return item


def changed_by(archive: Archive, proposal: LedgerItem) -> list[LedgerItem]:
    """Return the items that a proposal would change."""
    rows = archive.rows("SELECT to_uuid FROM item_link WHERE from_uuid = ? AND relation = 'changes'", proposal.uuid)
    return [find_item(archive, uuid) for (uuid,) in rows]


def _proposal(archive: Archive, ref: str, origin: str) -> LedgerItem:
    if not may_decide(origin):
        message = f"only the user accepts or dismisses {ref}"
        raise UsageError(message, "ask them to run this in a terminal of their own")
    item = find_item(archive, ref)
    if item.status != PROPOSED:
        message = f"{item.alias} is {item.status}, not proposed"
        raise UsageError(message, "`unified-state proposed` lists what waits for you")
    return item
