"""A state file of the seed's UnifiedStateManager, version 1 or 2, or of ours: `unified-session-state.json`, or
`unified-session-state.<session>.json` for one session.

The whole file becomes a step. Its entries become items, and proposals unless they were settled. Each has a step with
its text, so that its source can be shown. That manager reused ids, so an entry is identified by its id, its time (if
any) and its text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from unified_state.errors import ForeignFileError, NewerVersionError
from unified_state.lib.package import upgrade_line
from unified_state.lib.text import text_hash
from unified_state.lib.times import to_milliseconds
from unified_state.model.history_records import HistoryRecord
from unified_state.model.item import MAIN_FIELDS
from unified_state.model.session_state import STATE_VERSION
from unified_state.model.step import ATTACHMENT, NOTICE
from unified_state.state_file.read_entries import SETTLED, read_entries
from unified_state.upkeep.foreign.foreign_records import Conversation, proposal
from unified_state.upkeep.foreign.foreign_text import ForeignFile, Tally

PROGRAM = "session-state"
_NAME, _ENDING = "unified-session-state", ".json"


def read_snapshot(path: str) -> Iterator[HistoryRecord]:
    """Return the records in a state file. Raises ForeignFileError, and NewerVersionError for a newer major version."""
    file = ForeignFile(path, Tally(), worktree="", is_named=True)
    state, text, modified = _checked(file.json(), path), file.text(), file.modified()
    said_at = to_milliseconds(state.get("timestamp"))
    at = modified if said_at is None else said_at
    name = text_hash(text)
    talk = Conversation(PROGRAM, _scope(path), at)
    yield talk.session()
    yield talk.step(ATTACHMENT, text, at, name=name)
    for block, entry in enumerate(read_entries(state, max(at, modified)), 1):
        main = entry.said[MAIN_FIELDS[entry.kind]]
        step = talk.step(NOTICE, main, to_milliseconds(entry.created_at) or at, name=name, block=block)
        yield step
        body = {field: value for field, value in entry.said.items() if field not in {"scope", "mode"}}
        key = "\0".join((entry.alias, str(entry.timestamp), main))
        changed = to_milliseconds(entry.said.get("resolvedAt")) or 0
        status = entry.status if entry.status in SETTLED else "proposed"
        yield proposal(step, entry.kind, main, key, body, changed=changed, status=status)


def _checked(state: Any, path: str) -> dict[str, Any]:
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
