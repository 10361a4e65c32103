"""Steps of another store go into the archive as the transcript's own do: turn by turn, once."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from unified_state.records.history import STEP
from unified_state.records.step import Step
from unified_state.rules.packing import escape_surrogates, pack
from unified_state.storage.step_writing import StepWriter
from unified_state.storage.tiers.sqlite_changes import ensure_session
from unified_state.storage.tiers.sqlite_rows import carry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.records.history import StoredStep
    from unified_state.storage.archive import Archive

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
        fields = {
            name: value for name in _PLAIN if (value := getattr(stored, name)) and escape_surrogates(value) != value
        }
        if stored.unknown:
            fields["unknown"] = stored.unknown
        if fields:
            carry(archive, STEP, writer.last, fields)
    return is_new
