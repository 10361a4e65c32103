"""A tolerant reader of what a state file holds beside its items.

What describes the moment at which a file was written is no memory, and is not read: git, times, sizes, sessions' ids.
Nor are fields that this version does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.ledger.waiting_notes import ACTION, HIGHLIGHT, WORK_ITEM, FileNote
from unified_state.lib.json_text import dump_json
from unified_state.lib.record import disk_value
from unified_state.lib.text import cut
from unified_state.model.session_state import Workflow, WorkItem
from unified_state.state_file.read_entries import LONGEST, texts_in
from unified_state.state_file.state_file import read_section


def read_notes(state: dict[str, Any]) -> Iterator[FileNote]:
    """Yield the notes of a state file: its own, and those of its sessions."""
    sessions = state.get("sessions")
    records = list(sessions.values()) if isinstance(sessions, dict) else []
    summaries = state.get("summaries")
    for kind, names in ((HIGHLIGHT, ("contextHighlights", "highlights")), (ACTION, ("pendingActions",) * 2)):
        texts = texts_in(summaries, names[0]) + [text for record in records for text in texts_in(record, names[1])]
        yield from (FileNote(kind, cut(text, LONGEST)) for text in dict.fromkeys(texts))
    works = [read_section(WorkItem, one.get("workItem")) for one in (state, *records) if isinstance(one, dict)]
    flow = read_section(Workflow, state.get("workflow"))
    phase = None if flow.current_phase == works[0].phase else flow.current_phase  # our own files repeat that
    if told := ", ".join(filter(None, (phase, flow.last_handoff))):
        yield FileNote(HIGHLIGHT, cut(f"workflow: {told}", LONGEST))
    said = [dump_json(fields) for work in works if (fields := disk_value(work))]
    yield from (FileNote(WORK_ITEM, text) for text in dict.fromkeys(said))
