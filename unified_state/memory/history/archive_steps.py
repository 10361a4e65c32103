"""Steps of another store go into the archive as the transcript's own do: turn by turn, once."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from unified_state.lib.text.compress import escape_surrogates, pack
from unified_state.memory.archive.steps import find_step, uuid_key
from unified_state.memory.archive.write_steps import StepWriter, replace_text
from unified_state.memory.history.archive_changes import ensure_session
from unified_state.memory.history.archive_rows import carried, carry
from unified_state.model.history_records import STEP, is_masked_later
from unified_state.model.step import Step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.history_records import StoredStep

_NAMES = tuple(name for name in Step.names)
_PLAIN = ("uuid", "tool", "tool_use_id", "agent")  # columns of text, which cannot hold half an emoji


def keep_steps(archive: Archive, steps: Sequence[StoredStep]) -> int:
    """Keep steps, within the caller's transaction; how many their sessions did not have."""
    added = 0
    for (session_id, agent), run in groupby(steps, lambda step: (step.session_id, step.agent)):
        session = ensure_session(archive, session_id)
        row = archive.row(
            "SELECT id FROM turn WHERE session = ? AND agent IS ? ORDER BY id DESC LIMIT 1", session, agent
        )
        writer = StepWriter(archive, session, row[0] if row else None)
        for stored in run:
            added += _keep(archive, writer, stored)
    return added


def _keep(archive: Archive, writer: StepWriter, stored: StoredStep) -> bool:
    before = writer.added
    step = Step(**{name: getattr(stored, name) for name in _NAMES})
    is_new = writer.add(step, pack(step.text))
    if writer.added > before:
        _carry(archive, writer.last, stored)
    elif stored.masked_at is not None:
        _put_in_place(archive, stored)
    return is_new


def _put_in_place(archive: Archive, masked: StoredStep) -> None:
    """What was masked takes the place of the version that was masked before, or never."""
    known = "SELECT id FROM step WHERE uuid = ? AND block = ? AND kind NOT NULL"
    for (number,) in archive.rows(known, uuid_key(masked.uuid), masked.block):
        step = find_step(archive, number)
        if step is not None and is_masked_later(masked, carried(archive, STEP, number).get("masked_at")):
            replace_text(archive, number, step, masked.text)
            _carry(archive, number, masked)


def _carry(archive: Archive, number: int, stored: StoredStep) -> None:
    """Keep what the archive has no columns for."""
    fields: dict[str, Any] = {
        name: value for name in _PLAIN if (value := getattr(stored, name)) and escape_surrogates(value) != value
    }
    fields |= {name: value for name in ("unknown", "masked_at") if (value := getattr(stored, name)) not in ({}, None)}
    if fields:
        carry(archive, STEP, number, fields)
