"""An archive with many items of every kind and status, linked with each other: what years of sessions leave."""

from __future__ import annotations

import uuid
from pathlib import Path

from tests.builders import BODIES, MINUTE, NOW, SESSION
from unified_state.lib.text import pack
from unified_state.lib.times import to_text
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.compactions import begin_compaction, keep_rewind
from unified_state.memory.archive.session_work import add_notes
from unified_state.memory.archive.sessions import Cursor, move_cursor, touch_session
from unified_state.memory.archive.write_steps import StepWriter
from unified_state.memory.ledger.item_table import insert_item, link_items, next_alias
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, Step

BEGIN = NOW - 400 * 24 * 60 * MINUTE
# Of ten items five are questions, two are constraints, and there is one of each other kind.
_KINDS = (*(QUESTION,) * 5, *(CONSTRAINT,) * 2, ATTEMPT, DECISION, EVIDENCE)
_SUBJECTS = ("retry", "cache", "token", "queue", "schema", "budget", "route", "index", "login", "socket")


def fill(archive: Archive, items: int, worktree: str, transcript: Path) -> None:
    """Fill an archive with so many active items, half as many that ended, a turn and its steps for each ten, a session
    for each twenty, and all that hangs on them. The newest session is SESSION.
    """
    with archive.transaction(durable=False):
        sessions = [f"{number:08x}-0000-4000-8000-00000000beef" for number in range(items // 20)]
        for number, session_id in enumerate([*sessions, SESSION]):
            at = BEGIN + number * 20 * MINUTE
            session = touch_session(archive, session_id, at, worktree=worktree)
            _write_steps(archive, session, at)
            path = str(transcript) if session_id == SESSION else f"{transcript.parent}/{session_id}.jsonl"
            move_cursor(archive, Cursor(path=path, session=session, agent=None, offset=0, inode=None, turn=None))
            begin_compaction(archive, session, at)
            add_notes(archive, session, "action", [f"look at number {number}"], to_text(at))
        for number in range(20):
            keep_rewind(archive, session, BEGIN + number, BEGIN + number + 1)
        before: list[LedgerItem] = []
        for number in range(items * 3 // 2):
            item = _item(archive, number, SESSION if number % 4 == 0 else sessions[number % len(sessions)], before)
            insert_item(archive, item)
            for relation, back in (("supersedes", 3), ("duplicates", 7)):
                if number % back == 0 and number > back:
                    link_items(archive, item, relation, before[-back], item.created_at)
            before.append(item)
        archive.run("UPDATE session SET news = 0")  # all of it is news


def _write_steps(archive: Archive, session: int, at: int) -> None:
    writer = StepWriter(archive, session, None)
    for number, kind in enumerate((PROMPT, TEXT, TOOL_CALL, TEXT, PROMPT, TEXT)):
        text = '{"command": "make"}' if kind == TOOL_CALL else f"the {_SUBJECTS[number]} is what we look at"
        step = Step(
            uuid=str(uuid.UUID(int=session << 16 | number)),
            block=0,
            kind=kind,
            at=at + number,
            text=text,
            tool="Bash" if kind == TOOL_CALL else None,
            starts_turn=kind == PROMPT,
        )
        writer.add(step, pack(text))


def _item(archive: Archive, number: int, session_id: str, before: list[LedgerItem]) -> LedgerItem:
    """One item. Each third has ended; of those each second one waits as a rule that a summary reported."""
    kind, tenth = _KINDS[number % 10], number // 10
    has_ended, is_captured = number % 3 == 2, kind in (ATTEMPT, EVIDENCE)
    is_waiting = has_ended and kind == CONSTRAINT and tenth % 2 == 0
    subject = f"{_SUBJECTS[tenth % 10]} {number}"
    body = {name: f"{value} {subject}" if isinstance(value, str) else value for name, value in BODIES[kind].items()}
    body |= {"type": "error"} if kind == EVIDENCE else {}
    body |= {"priority": ("low", "medium", "high")[tenth % 3]} if kind == QUESTION else {}
    if kind == CONSTRAINT and not is_waiting and tenth % 4 == 0:
        body |= {"scope": {"commands": [f"deploy {number}*"]}, "mode": "deny"}
    at = to_text(BEGIN + number * MINUTE)
    status = "proposed" if is_waiting else ("superseded" if before and has_ended else "active")
    return LedgerItem(
        uuid=str(uuid.UUID(int=number + (1 << 100))),
        alias=next_alias(archive, kind),
        kind=kind,
        body=body,
        status=status,
        origin="user_said" if is_waiting or tenth % 2 else "inferred",
        created_at=at,
        changed_at=at if status == "superseded" else None,
        superseded_by=before[-1].uuid if status == "superseded" else None,
        session_id=session_id,
        source_uuid=None if tenth % 5 == 0 else str(uuid.UUID(int=number << 16)),
        commit=f"{number % 50:040x}",
        files=(f"src/m{number % 40}.py",) if number % 2 else (),
        file_hashes={f"src/m{number % 40}.py": "0 0 0"} if number % 4 == 1 else {},
        paged_out_at=at if is_captured or number % 5 else None,
        rule="error" if is_captured else "summary" if is_waiting else None,
        capture_key=f"key {number}" if is_captured or is_waiting else None,
    )
