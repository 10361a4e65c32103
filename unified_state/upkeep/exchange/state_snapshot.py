"""A state file of the seed's UnifiedStateManager, version 1 or 2, or of ours: `unified-session-state.json`, or
`unified-session-state.<session>.json` for one session.

The whole file becomes a step. Its entries become items, and proposals unless they were settled. Each has a step with
its text, so that its source can be shown. That manager reused ids, so an entry is identified by its id, its time (if
any) and its text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from unified_state.errors import ForeignFileError, NewerVersionError
from unified_state.lib.json_text import parse_json
from unified_state.lib.package import upgrade_line
from unified_state.lib.read_files import open_regular
from unified_state.lib.text import text_hash
from unified_state.lib.times import to_milliseconds
from unified_state.model.constraint import INFERRED
from unified_state.model.history_records import HistoryRecord, StoredItem, StoredSession, StoredStep
from unified_state.model.item import ALIAS_LETTERS, MAIN_FIELDS, OTHER_FIELDS
from unified_state.model.session_state import STATE_VERSION
from unified_state.model.step import ATTACHMENT, NOTICE
from unified_state.state_file.read_entries import SETTLED, StateEntry, alias_number, read_entries
from unified_state.upkeep.foreign.foreign_files import damaged, unreadable
from unified_state.upkeep.foreign.foreign_records import stable_uuid

PROGRAM = "session-state"
_NAME, _ENDING = "unified-session-state", ".json"
_MOST_BYTES = 16 << 20


def read_snapshot(path: str) -> Iterator[HistoryRecord]:
    """Return the records in a state file. Raises ForeignFileError, and NewerVersionError for a newer major version."""
    raw, modified = _read(path)
    state = _parse(raw, path)
    said_at = to_milliseconds(state.get("timestamp"))
    at = modified if said_at is None else said_at
    session = f"{PROGRAM}:{_scope(path)}"
    uuid = f"{PROGRAM}:{sha256(raw).hexdigest()}"
    yield StoredSession(session, started_at=at, seen_at=at)
    yield StoredStep(uuid, 0, ATTACHMENT, at, raw.decode("utf-8-sig", "replace"), starts_turn=True, session_id=session)
    entries = list(read_entries(state, max(at, modified)))
    for block, entry in enumerate(entries, 1):
        yield StoredStep(uuid, block, NOTICE, at, entry.said[MAIN_FIELDS[entry.kind]], session_id=session)
    for entry in entries:
        yield _item(entry, session, uuid)


def _read(path: str) -> tuple[bytes, int]:
    """Return the content of a file, and the time of its last change."""
    try:
        with open_regular(path) as file:
            raw = file.read(_MOST_BYTES + 1)
            modified = int(os.fstat(file.fileno()).st_mtime * 1000)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(raw) > _MOST_BYTES:
        message = f"{path} is too large for a state file"
        raise ForeignFileError(message, "a state file has some kilobytes")
    return raw, modified


def _parse(raw: bytes, path: str) -> dict[str, Any]:
    try:
        state = parse_json(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    version = state.get("version") if isinstance(state, dict) else None
    major = version.split(".")[0] if isinstance(version, str) else ""
    if not (isinstance(state, dict) and major.isascii() and major.isdigit()):
        message = f"{path} is no state file: it has no version"
        raise ForeignFileError(message, "name a file unified-session-state….json")
    if len(major) > 1 or major > STATE_VERSION[0]:
        message = f"{path} has version {version}; this unified-state knows up to {STATE_VERSION}"
        raise NewerVersionError(message, f"upgrade unified-state: {upgrade_line()}")
    return state


def _scope(path: str) -> str:
    """Return the session of a file that belongs to one, or else the name of the folder that it describes."""
    name = os.path.basename(path)
    inner = name.removeprefix(_NAME).removesuffix(_ENDING).strip(".")
    if inner and name.startswith(f"{_NAME}."):
        return inner
    return os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(path)))) or _NAME


def _item(entry: StateEntry, session: str, source_uuid: str) -> StoredItem:
    """Return an entry as an item that is not active by itself.

    It is paged out, because the state file is for items recorded here. Its uuid contains the entry's time. The file's
    time differs in each copy.
    """
    letter = ALIAS_LETTERS[entry.kind]
    number = alias_number(entry.alias) if entry.alias.startswith(letter) else 0
    alias = f"{letter}{number or 1}"
    main = str(entry.said[MAIN_FIELDS[entry.kind]])
    said = {name: value for name, value in entry.said.items() if name not in {"scope", "mode"}}
    return StoredItem(
        uuid=stable_uuid(PROGRAM, entry.kind, alias, str(entry.timestamp), main),
        alias=alias,
        kind=entry.kind,
        body={**OTHER_FIELDS[entry.kind], **said},
        status=entry.status if entry.status in SETTLED else "proposed",
        origin=INFERRED,
        created_at=entry.created_at,
        changed_at=entry.said.get("resolvedAt"),
        paged_out_at=entry.created_at,
        session_id=session,
        source_uuid=source_uuid,
        quote=main,
        quote_hash=text_hash(main),
    )
