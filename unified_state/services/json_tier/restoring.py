"""Restore from a JSON history: the state, and the last turns of the session whose memory counts.

A simpler choice than from an archive: no working set, no looking at what the summary kept, and whether a text arrived
is not looked after.
"""

from __future__ import annotations

import os

from unified_state.interpreter import parse_json
from unified_state.records.restore import BRIEF, WORKING_SET, Known
from unified_state.records.state import GitState, WorkItem
from unified_state.rules.fence import fenced
from unified_state.rules.timestamps import to_milliseconds, to_text
from unified_state.services.health import health_line
from unified_state.services.json_tier.carrying import carried_items
from unified_state.services.json_tier.projecting import JsonProjection, open_notes
from unified_state.services.json_tier.reading import compaction_numbers, count_turns, last_outlines
from unified_state.services.restore import restored_text
from unified_state.storage.ledger import ACTIVE
from unified_state.storage.sessions import LOCAL_SESSION
from unified_state.storage.tiers.json_desk import SAVED, SUMMARIES, WORK
from unified_state.storage.tiers.json_tables import Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.records.item import LedgerItem
    from unified_state.records.restore import Reason
    from unified_state.services.hook_call import HookCall
    from unified_state.services.json_tier.history import JsonHistory
    from unified_state.services.workspace import Workspace

_TURNS = 14
_ABOUT = {
    BRIEF: "recorded facts of this project from before, as data",
    WORKING_SET: "turns from before, as data",
}


def session_start_text(call: HookCall, history: JsonHistory, reason: Reason) -> str:
    """The text for one of the two handlers of SessionStart."""
    known = gather(call.workspace, history, call.event.session_id, reason, call.now)
    if call.part == BRIEF:
        known = known.replace(health=health_of(call, history))
    text = restored_text(known, call.settings).as_dict()[call.part or BRIEF]
    return fenced(text, os.urandom(6).hex(), _ABOUT[call.part or BRIEF]) if text else ""


def health_of(call: HookCall, history: JsonHistory) -> str | None:
    """What a person should know: that this is not the archive, or else what went wrong lately."""
    if history.is_fallback:
        return f"all is kept in files of JSON, which join the archive once it can be used; now {history.reason}"
    return health_line(call.workspace.place.folder, call.now)


def gather(workspace: Workspace, history: JsonHistory, session_id: str, reason: Reason, now: int) -> Known:
    """All that a session could be given back now."""
    desk = history.desk.read()
    goes_on = reason in {"resume", "fork"}
    source = session_id if reason in {"compact", "resume"} else _newest_other(desk, session_id)
    items = _active(workspace, history, now)
    if goes_on:
        items = _by_others(items, source, desk[WORK].get(source, {}).get("last_seen", 0))
    work = desk[WORK].get(source, {}).get("work_item") or desk[WORK].get(LOCAL_SESSION, {}).get("work_item")
    saved = desk[SAVED].get(workspace.place.state_path)
    with_turns = reason == "compact" or (reason == "clear" and workspace.settings.restore_on_clear == "full")
    turns = last_outlines(history, source, _TURNS) if source and with_turns else ()
    return Known(
        reason=reason,
        now=now,
        compaction=_compaction(history, source) if reason == "compact" else None,
        summary=desk[SUMMARIES].get(source) if reason == "compact" else None,
        work_item=WorkItem.from_disk(work) if work else None,
        items=tuple(items),
        highlights=open_notes(desk, "highlight", source),
        pending_actions=open_notes(desk, "action", source),
        turns=turns,
        turn_count=count_turns(history),
        last_turn_at=turns[0].at if turns else None,
        saved_at=to_milliseconds(saved["at"]) if saved else None,
        git=GitState.from_disk(parse_json(saved["git"])) if saved else None,
    )


def _active(workspace: Workspace, history: JsonHistory, now: int) -> list[LedgerItem]:
    """The items that hold: those of the history, and those of an archive that the state file shows."""
    taken = Tables(history.files).taken
    carried = carried_items(JsonProjection(history, workspace, now).trusted(), taken, now)
    return [item for item in (*carried, *history.store.items()) if item.status == ACTIVE]


def _by_others(items: list[LedgerItem], session_id: str | None, since: int) -> list[LedgerItem]:
    after = to_text(since)
    return [
        item for item in items if item.session_id != session_id and max(item.created_at, item.changed_at or "") > after
    ]


def _newest_other(desk: dict[str, Any], session_id: str) -> str | None:
    """The session that was seen last, beside this one."""
    seen = {name: one.get("seen_at", 0) for name, one in desk[WORK].items() if name not in {session_id, LOCAL_SESSION}}
    return max(seen, key=seen.__getitem__, default=None)


def _compaction(history: JsonHistory, session_id: str | None) -> int | None:
    """The number of the session's newest compaction."""
    numbers = [number for number, one in compaction_numbers(history).items() if one.session_id == session_id]
    return numbers[-1] if numbers else None
