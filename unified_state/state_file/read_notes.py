"""A tolerant reader of what a state file holds beside its items.

What describes the moment at which a file was written is no memory, and is not read: git, times, sizes, sessions' ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.ledger.waiting_notes import ACTION, FIELD, HIGHLIGHT, WORK_ITEM, FileNote
from unified_state.lib.json_text import dump_json
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import cut
from unified_state.model.item import ITEM_KINDS
from unified_state.model.session_state import GitState, State, Summaries, TokenMetrics, Workflow, WorkItem
from unified_state.state_file.read_entries import LONGEST, texts_in
from unified_state.state_file.state_file import read_section

_SECTIONS: dict[str, type[Record]] = {
    "git": GitState,
    "workItem": WorkItem,
    "workflow": Workflow,
    "summaries": Summaries,
    "tokenMetrics": TokenMetrics,
}


def read_notes(state: dict[str, Any]) -> Iterator[FileNote]:
    """Yield the notes of a state file: its own, those of its sessions, and the fields that this version does not know.
    The work items of its sessions come after its own.
    """
    sessions = state.get("sessions")
    records = list(sessions.values()) if isinstance(sessions, dict) else []
    summaries = state.get("summaries")
    for kind, names in ((HIGHLIGHT, ("contextHighlights", "highlights")), (ACTION, ("pendingActions",) * 2)):
        texts = texts_in(summaries, names[0]) + [text for record in records for text in texts_in(record, names[1])]
        yield from (FileNote(kind, cut(text, LONGEST)) for text in dict.fromkeys(texts))
    works = [record.get("workItem") for record in (state, *records) if isinstance(record, dict)]
    said = [dump_json(work) for one in works if (work := disk_value(read_section(WorkItem, one)))]
    yield from (FileNote(WORK_ITEM, text) for text in dict.fromkeys(said))
    yield from (FileNote(FIELD, dump_json(value), name) for name, value in _other_fields(state) if value)


def _other_fields(state: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields that only the file itself can hold, by section: the workflow, and what is unknown here."""
    for name, kind in _SECTIONS.items():
        section = state.get(name)
        if isinstance(section, dict):
            yield name, {**(_workflow(state) if kind is Workflow else {}), **_unknown(section, kind)}
    for items in ITEM_KINDS.values():
        section = State.disk_names[items.section]
        entries = state.get(section)
        named = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        found = [{"id": entry.get("id"), **fields} for entry in named if (fields := _unknown(entry, items.entry))]
        yield section, found
    yield from _unknown(state, State).items()


def _unknown(fields: dict[str, Any], kind: type[Record]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in kind.disk_names.values()}


def _workflow(state: dict[str, Any]) -> dict[str, Any]:
    """Return the workflow of a file. Our own files repeat the phase of the work item there."""
    flow = read_section(Workflow, state.get("workflow"))
    is_repeated = flow.current_phase == read_section(WorkItem, state.get("workItem")).phase
    phase = None if is_repeated else flow.current_phase
    fields = {"currentPhase": phase, "lastHandoff": flow.last_handoff}
    return {name: value for name, value in fields.items() if value is not None}
