"""Forgetting in a JSON history: tombstones take what they name out of every file, and keep it from coming back.

What was told beside the history (notes, work, messages that wait) goes where it holds the text, or is of the session.
"""

from __future__ import annotations

import os
import sys
from itertools import chain
from typing import TYPE_CHECKING

from unified_state.errors import NotFoundError, UsageError
from unified_state.interpreter import dump_json
from unified_state.records.history import COMPACTION, ITEM, SESSION, STEP, Tombstone
from unified_state.rules.refs import COMPACTION as COMPACTION_REF
from unified_state.rules.refs import ITEM as ITEM_REF
from unified_state.rules.refs import parse_ref
from unified_state.rules.timestamps import to_milliseconds
from unified_state.services.gate import pass_gate_for
from unified_state.services.json_tier.finding import recall_json
from unified_state.services.json_tier.history import open_history
from unified_state.services.json_tier.projecting import JsonProjection
from unified_state.services.json_tier.reading import compaction_numbers, steps_at
from unified_state.storage.tiers.json_desk import NOTES, PENDING, SUMMARIES, WORK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from unified_state.records.history import StoredCompaction, StoredStep
    from unified_state.services.json_tier.history import JsonHistory
    from unified_state.services.workspace import Workspace

    Holds = Callable[[str], bool]


def forget_json(
    workspace: Workspace, now: int, *, ref: str = "", session_id: str | None = None, text: str | None = None
) -> tuple[int, int, int]:
    """Forget everything that holds a text, or else a session, or else what a ref names; how many steps, items and
    summaries that were.
    """
    history = open_history(workspace.place)
    if text is not None:
        tombstones, holds = _with_text(history, text, now)
    elif session_id is not None:
        tombstones, holds = _of_session(history, session_id, now), lambda _text: False
    else:
        tombstones, holds = _at_ref(workspace, history, ref, now)
    gone = {one.key for one in tombstones if one.what == ITEM}
    items = [item for item in history.store.items() if item.uuid in gone]
    pass_gate_for(items, workspace.origin, "forgets")
    before = history.store.counts()
    history.store.append(tombstones)
    forgotten = clean_desk(history, {} if session_id is None else {session_id: sys.maxsize}, holds)
    after = history.store.counts()
    if os.path.exists(workspace.place.archive_path):
        workspace.report(f"the archive {workspace.place.archive_path} was not looked at: {workspace.no_archive}")
    forgotten |= {value for item in items for value in item.body.values() if isinstance(value, str)}
    JsonProjection(history, workspace, now).refresh(lambda said: said in forgotten or holds(said))
    return before.steps - after.steps, before.items - after.items, before.compactions - after.compactions


def clean_desk(history: JsonHistory, until: Mapping[str, int], holds: Holds = lambda _text: False) -> set[str]:
    """Take out of the desk what belongs to sessions that were forgotten, up to when they were, and what holds a text
    that was; what the state file may still tell of it.
    """
    gone: set[str] = set()
    goes_on = {name for name, at in until.items() if any(step.at > at for step in _steps_of(history, name))}

    def change(desk: dict[str, Any]) -> None:
        before = _told(desk)
        desk[PENDING] = [one for one in desk[PENDING] if one[3] > until.get(one[0], -1) and not holds(one[2])]
        desk[NOTES] = [
            one
            for one in desk[NOTES]
            if (to_milliseconds(one["at"]) or 0) > until.get(one.get("session_id"), -1) and not holds(one["text"])
        ]
        for part in (WORK, SUMMARIES):
            desk[part] = {
                name: value
                for name, value in desk[part].items()
                if (name not in until or name in goes_on) and not holds(dump_json(value))
            }
        gone.update(before - _told(desk))

    history.desk.change(change)
    return gone


def _told(desk: dict[str, Any]) -> set[str]:
    """What a state file tells of a desk."""
    works = [one.get("work_item") or {} for one in desk[WORK].values()]
    texts = [note["text"] for note in desk[NOTES]] + [value for work in works for value in work.values()]
    return {text for text in texts if isinstance(text, str)}


def _with_text(history: JsonHistory, text: str, now: int) -> tuple[list[Tombstone], Holds]:
    if not text.strip():
        message = "the text to forget is empty"
        raise UsageError(message, "give a text that stands in what shall go")
    forms = {text.lower(), dump_json(text)[1:-1].lower()}

    def holds(other: str) -> bool:
        return any(form in other.lower() for form in forms)

    steps = chain(*(_steps_of(history, session.session_id) for session in history.store.sessions()))
    found = [_of_step(step, now) for step in steps if holds(step.text)]
    items = [item for item in history.store.items() if holds(dump_json(item.body)) or holds(item.quote or "")]
    found += [Tombstone(ITEM, item.uuid, now) for item in items]
    found += [_of_compaction(one, now) for one in history.store.compactions() if holds(one.summary or "")]
    return found, holds


def _of_session(history: JsonHistory, session_id: str, now: int) -> list[Tombstone]:
    if all(session.session_id != session_id for session in history.store.sessions()):
        message = f"there is no session {session_id} in the history"
        raise NotFoundError(message, "`unified-state search` names the sessions it finds")
    later = [_of_step(step, now) for step in _steps_of(history, session_id) if step.at > now]  # a clock was ahead
    cut = [one for one in history.store.compactions() if one.session_id == session_id and one.at > now]
    return [Tombstone(SESSION, session_id, now), *later, *(_of_compaction(one, now) for one in cut)]


def _at_ref(workspace: Workspace, history: JsonHistory, ref: str, now: int) -> tuple[list[Tombstone], Holds]:
    kind, number = parse_ref(ref)
    found = recall_json(workspace, ref)  # raises where there is nothing
    if kind == ITEM_REF:
        return [Tombstone(ITEM, found["uuid"], now)], lambda _text: False
    if kind == COMPACTION_REF:
        return [_of_compaction(compaction_numbers(history)[number], now)], lambda _text: False
    steps = [step for _, step in steps_at(history, kind, number)]
    told = {step.text.strip() for step in steps}
    return [_of_step(step, now) for step in steps], told.__contains__


def _steps_of(history: JsonHistory, session_id: str) -> Iterator[StoredStep]:
    position = 0
    while page := history.store.steps(session_id, position):
        yield from (step for _, step in page)
        position = page[-1][0]


def _of_step(step: StoredStep, now: int) -> Tombstone:
    return Tombstone(STEP, f"{step.uuid}/{step.block}", now)


def _of_compaction(compaction: StoredCompaction, now: int) -> Tombstone:
    return Tombstone(COMPACTION, compaction.boundary_uuid, now)
