"""Files that the agent read in each of several stretches of a session, and changed in none."""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.agents.transcripts.rules.call_effects import read_call
from unified_state.lib.identifiers import relative_path
from unified_state.model.step import Step

_READS = "Read"


def repeated_reads(stretches: Sequence[Sequence[Step]], root: str) -> list[str]:
    """Return the files, the last read first. A stretch holds its tool calls in order; the newest stretch is first."""
    changed: set[str] = set()
    reads: list[dict[str, None]] = []
    for stretch in stretches:
        read: dict[str, None] = {}
        for call in map(read_call, reversed(stretch)):
            changed.update(relative_path(change.path, root) for change in call.changes)
            if call.tool == _READS and call.path:
                read[relative_path(call.path, root)] = None
        reads.append(read)
    return [path for path in reads[0] if path not in changed and all(path in read for read in reads)] if reads else []
