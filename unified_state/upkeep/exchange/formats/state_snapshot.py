"""A state file of the seed's UnifiedStateManager, version 1 or 2, or of ours, from wherever:
`unified-session-state.json`, or that of one session, `unified-session-state.<session>.json`.

The file is kept whole, as a step; its entries are items, proposals unless they were settled, each with a step that
says it, so that its source can be shown. That manager gave ids twice; an entry is known by its id, its time, if it has
one, and its text.
"""

from __future__ import annotations

import os
from hashlib import sha256

from unified_state.errors import ForeignFileError, NewerVersionError
from unified_state.lib.stdlib import parse_json
from unified_state.lib.times import to_milliseconds
from unified_state.memory.state_file.rules.state_entries import OTHER_FIELDS, SETTLED, alias_number, read_entries
from unified_state.model.history_records import StoredItem, StoredSession, StoredStep
from unified_state.model.item import ALIAS_LETTERS, MAIN_FIELDS
from unified_state.model.session_state import STATE_VERSION
from unified_state.model.step import ATTACHMENT, NOTICE
from unified_state.upkeep.exchange.formats.foreign_items import foreign_item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.memory.state_file.rules.state_entries import StateEntry
    from unified_state.model.history_records import HistoryRecord

PROGRAM = "session-state"
_NAME, _ENDING = "unified-session-state", ".json"
_MOST_BYTES = 16 << 20


def read_snapshot(path: str) -> Iterator[HistoryRecord]:
    """What a state file holds. Raises ForeignFileError, and NewerVersionError for a newer major version."""
    raw, modified = _read(path)
    state = _parse(raw, path)
    said_at = to_milliseconds(state.get("timestamp"))
    at = modified if said_at is None else said_at
    session = f"{PROGRAM}:{_scope(path)}"
    entry = f"{PROGRAM}:{sha256(raw).hexdigest()}"
    text = raw.decode("utf-8-sig", "replace")
    yield StoredSession(session, started_at=at, seen_at=at)
    yield StoredStep(session, entry, 0, ATTACHMENT, at, text, starts_turn=True)
    entries = list(read_entries(_with_key_decisions(state), max(at, modified)))
    for block, said in enumerate(entries, 1):
        yield StoredStep(session, entry, block, NOTICE, at, said.said[MAIN_FIELDS[said.kind]])
    for said in entries:
        item = _item(said)
        yield item.replace(session_id=session, source_uuid=entry)


def _read(path: str) -> tuple[bytes, int]:
    try:
        with open(path, "rb") as file:
            raw = file.read(_MOST_BYTES + 1)
            modified = int(os.fstat(file.fileno()).st_mtime * 1000)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ForeignFileError(message, "name a file that you may read") from error
    if len(raw) > _MOST_BYTES:
        message = f"{path} is too large for a state file"
        raise ForeignFileError(message, "a state file has some kilobytes")
    return raw, modified


def _parse(raw: bytes, path: str) -> dict[str, Any]:
    try:
        state = parse_json(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        message = f"{path} is damaged: {error}"
        raise ForeignFileError(message, "it ends in the middle, or was changed; import a backup of it") from error
    version = state.get("version") if isinstance(state, dict) else None
    major = version.split(".")[0] if isinstance(version, str) else ""
    if not (isinstance(state, dict) and major.isascii() and major.isdigit()):
        message = f"{path} is no state file: it has no version"
        raise ForeignFileError(message, "name a file unified-session-state….json")
    if len(major) > 1 or major > STATE_VERSION[0]:
        message = f"{path} has version {version}; this unified-state knows up to {STATE_VERSION}"
        raise NewerVersionError(message, "upgrade unified-state: pip install --upgrade unified-state")
    return state


def _scope(path: str) -> str:
    """The session of a file that belongs to one; else the folder that it describes."""
    name = os.path.basename(path)
    inner = name.removeprefix(_NAME).removesuffix(_ENDING).strip(".")
    if inner and name.startswith(f"{_NAME}."):
        return inner
    return os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(path)))) or _NAME


def _with_key_decisions(state: dict[str, Any]) -> dict[str, Any]:
    """The state; where it has no decisions of its own, as in version 1, the key decisions of its summaries are all
    there was.
    """
    summaries = state.get("summaries")
    texts = summaries.get("keyDecisions") if isinstance(summaries, dict) else None
    if state.get("decisions") or not isinstance(texts, list):
        return state
    decisions = [
        {"id": f"D{number}", "decision": text, "rationale": "not recorded", "timestamp": state.get("timestamp")}
        for number, text in enumerate(texts, 1)
    ]
    return {**state, "decisions": decisions}


def _item(entry: StateEntry) -> StoredItem:
    letter = ALIAS_LETTERS[entry.kind]
    number = alias_number(entry.alias) if entry.alias.startswith(letter) else 0
    body = {name: value for name, value in entry.said.items() if name not in {"scope", "mode"}}
    status = entry.status if entry.status in SETTLED else "proposed"
    item = foreign_item(
        PROGRAM,
        entry.kind,
        {**OTHER_FIELDS[entry.kind], **body},
        f"{letter}{number or 1}",
        entry.created_at,
        timestamp=entry.timestamp,
        status=status,
    )
    return item.replace(changed_at=entry.said.get("resolvedAt"))
