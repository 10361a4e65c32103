"""Adoption: what somebody else wrote into the state file enters the ledger as proposed, never as a fact.

A person may have edited the file; a repository may bring one along; the file may be older than the archive (an earlier
version's, or the archive was lost). Nothing that is absent from the file is deleted. Only a file that is byte for byte
what we wrote last is trusted: from that one, items are taken over as they were where the archive does not know them.
"""

from __future__ import annotations

from unified_state.records.enforced import MODES
from unified_state.records.item import (
    ALIAS_LETTERS,
    ATTEMPT,
    CONSTRAINT,
    DECISION,
    EVIDENCE,
    EVIDENCE_TYPES,
    MAIN_FIELDS,
    PRIORITIES,
    QUESTION,
    LedgerItem,
)
from unified_state.records.origin import INFERRED, ORIGINS
from unified_state.records.record import Record, disk_value
from unified_state.rules.cutting import cut
from unified_state.rules.enforcing.scopes import read_scope
from unified_state.rules.quoting import text_hash
from unified_state.rules.short_form import short_form
from unified_state.rules.timestamps import to_milliseconds, to_text
from unified_state.services.recording import new_uuid
from unified_state.storage.ledger import (
    ACTIVE,
    PROPOSED,
    RESOLVED,
    SUPERSEDED,
    insert_item,
    is_forgotten,
    link_items,
    list_items,
    next_alias,
    raise_counter,
)
from unified_state.storage.sessions import add_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.storage.archive import Archive
    from unified_state.storage.state_file import StateContent

_SECTIONS = {
    "decisions": DECISION,
    "constraints": CONSTRAINT,
    "openQuestions": QUESTION,
    "evidenceLedger": EVIDENCE,
    "failedAttempts": ATTEMPT,
}
# The other fields of a body, each with what a new item has where the value is missing or of another kind.
_OTHER_FIELDS: dict[str, dict[str, Any]] = {
    DECISION: {"rationale": "", "reversible": True},
    CONSTRAINT: {"source": "", "blocking": False},
    QUESTION: {"context": "", "priority": "medium"},
    EVIDENCE: {"type": "observation", "source": ""},
    ATTEMPT: {"outcome": ""},
}
_CHOICES = {"priority": PRIORITIES, "type": EVIDENCE_TYPES}
_SETTLED = (SUPERSEDED, RESOLVED)  # it asks nothing of anybody any more, whoever says so
_LONGEST = 20_000  # characters of one adopted text
_HIGHEST_NUMBER = 1_000_000  # an alias above it was not counted up to


class _Entry(Record):
    """An entry of a state file that somebody else may have written. `said` holds what can be used of its body."""

    kind: str
    alias: str
    said: dict[str, Any]
    status: str
    origin: str
    created_at: str


def adopt(archive: Archive, content: StateContent, now: int) -> int:
    """Take what the ledger does not know from a state file, whose secrets are masked, into it; the number of items that
    are new.

    An entry that shows a known item otherwise is a proposal to change that item, and is linked to it.
    """
    if not content.json or (content.is_ours and _is_known(archive, content.json)):
        return 0
    with archive.transaction():
        known = {item.alias: item for item in list_items(archive)}
        keeps_aliases = not known  # a new archive counts on where the older file ended
        adopted = 0
        for entry in _entries(content.json, now):
            present = known.get(entry.alias)
            if present is None and is_forgotten(archive, entry.alias):
                continue
            if present is None or not _shows(entry, present):
                item = _item(archive, entry, now, trusted=content.is_ours, keeps_alias=keeps_aliases or content.is_ours)
                if present is not None:
                    item = item.replace(status=PROPOSED)
                    link_items(archive, item, "changes", present, to_text(now))
                insert_item(archive, item)
                adopted += 1
        if keeps_aliases:
            _adopt_notes(archive, content.json, now)
    return adopted


def _is_known(archive: Archive, state: dict[str, Any]) -> bool:
    """Whether the ledger knows every entry of the file: otherwise the archive was lost, and the file knows more."""
    known = "SELECT 1 FROM item WHERE alias = ?1 UNION SELECT 1 FROM item_alias WHERE alias = ?1"
    return all(archive.row(known, str(entry.get("id"))) for _, entry in _raw_entries(state))


def _raw_entries(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for section, kind in _SECTIONS.items():
        entries = state.get(section)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict):
                yield kind, entry


def _entries(state: dict[str, Any], now: int) -> Iterator[_Entry]:
    for kind, raw in _raw_entries(state):
        main = raw.get(MAIN_FIELDS[kind])
        if isinstance(main, str) and main.strip():
            yield _read_entry(kind, raw, main, now)


def _read_entry(kind: str, raw: dict[str, Any], main: str, now: int) -> _Entry:
    said: dict[str, Any] = {MAIN_FIELDS[kind]: cut(main, _LONGEST)}
    for name, default in _OTHER_FIELDS[kind].items():
        value = raw.get(name)
        if isinstance(value, type(default)) and value in _CHOICES.get(name, (value,)):
            said[name] = cut(value, _LONGEST) if isinstance(value, str) else value
    if kind == CONSTRAINT and raw.get("mode") in MODES and (scope := read_scope(raw.get("scope"))) is not None:
        said |= {"scope": disk_value(scope), "mode": raw["mode"]}
    status = raw.get("status", ACTIVE)
    if kind == QUESTION:
        status = RESOLVED if raw.get("resolved") is True else status
        if isinstance(raw.get("resolution"), str):
            said["resolution"] = cut(raw["resolution"], _LONGEST)
        if to_milliseconds(raw.get("resolvedAt")) is not None:
            said["resolvedAt"] = raw["resolvedAt"]
    timestamp = to_milliseconds(raw.get("timestamp"))
    return _Entry(
        kind=kind,
        alias=str(raw.get("id") or ""),
        said=said,
        status=status if status in (ACTIVE, PROPOSED, *_SETTLED) else PROPOSED,
        origin=raw["origin"] if raw.get("origin") in ORIGINS else INFERRED,
        created_at=to_text(now if timestamp is None else min(timestamp, now)),
    )


def _shows(entry: _Entry, item: LedgerItem) -> bool:
    """Whether all that an entry says is what the file shows of an item, so that nobody changed it. A file that is older
    than the item may show it as still in force.
    """
    shown = disk_value(short_form(item))
    return (
        entry.kind == item.kind
        and (entry.status not in _SETTLED or entry.status == item.status)
        and all(shown.get(name) == value for name, value in entry.said.items())
    )


def _item(archive: Archive, entry: _Entry, now: int, *, trusted: bool, keeps_alias: bool) -> LedgerItem:
    letter = ALIAS_LETTERS[entry.kind]
    number = _number(entry.alias)
    taken = archive.row("SELECT 1 FROM item WHERE alias = ?", f"{letter}{number}")
    if keeps_alias and number and entry.alias == f"{letter}{number}" and not taken:
        alias = entry.alias
        raise_counter(archive, letter, number)
    else:
        alias = next_alias(archive, entry.kind)
    quote = entry.said[MAIN_FIELDS[entry.kind]]
    return LedgerItem(
        uuid=new_uuid(now),
        alias=alias,
        kind=entry.kind,
        body={**_OTHER_FIELDS[entry.kind], **entry.said},
        status=entry.status if trusted or entry.status in _SETTLED else PROPOSED,
        origin=entry.origin if trusted else INFERRED,
        created_at=entry.created_at,
        quote=quote,
        quote_hash=text_hash(quote),
    )


def _adopt_notes(archive: Archive, state: dict[str, Any], now: int) -> None:
    summaries = state.get("summaries")
    for field, kind in (("contextHighlights", "highlight"), ("pendingActions", "action")):
        texts = summaries.get(field) if isinstance(summaries, dict) else None
        if isinstance(texts, list):
            kept = [cut(text, _LONGEST) for text in texts if isinstance(text, str) and text.strip()]
            add_notes(archive, None, kind, kept, to_text(now))


def _number(alias: object) -> int:
    """The number of an alias such as D7; 0 for anything else."""
    digits = alias[1:] if isinstance(alias, str) else ""
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 0  # noqa: PLR2004
    return number if number <= _HIGHEST_NUMBER else 0
