"""Inserts steps into the archive.

A step is stored once, by the uuid of its transcript entry and its position there. If the transcript of another session
has it too (a fork, a resumed session in a new file), that session gets a copy mark. Storing the same entry again
changes nothing, so a retry after a killed hook can always start from the last cursor.
"""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import (
    DATA_URL,
    KIND_NUMBERS,
    STEP_COLUMNS,
    STEP_FIELDS,
    add_to_index,
    index_left,
    uuid_key,
    uuid_text,
)
from unified_state.lib.text import unpack
from unified_state.model.step import ATTACHMENT, TOOL_CALL, TOOL_RESULT, Step

_INSERT = f"INSERT INTO step (id, turn, {STEP_COLUMNS}) VALUES (?, ?{', ?' * len(STEP_FIELDS)})"
_AT_ONCE = 500  # queued steps indexed with each write, for which a hook may wait


class StepWriter:
    """Adds the steps of one session within one transaction. It tracks the open turn, the number of the last step, and
    the number of new steps.
    """

    def __init__(self, archive: Archive, session: int, turn: int | None) -> None:
        self._archive = archive
        self._run = archive.execute
        self._session = session
        self.turn = turn
        self.last = 0
        self.added = 0
        self.tool_calls = 0
        self._next_step = self._after_last("step")
        if not archive.has_journal:  # its index ends with the process
            index_left(archive, _AT_ONCE)
        self._awaited = awaited_outputs(archive, session)
        self._is_own_turn = turn is not None and self._owner(turn) == session
        self._forgotten = set(archive.column("SELECT key FROM tombstone WHERE what = 'step' AND waits"))
        (self._forgotten_at,) = archive.row("SELECT forgotten_at FROM session WHERE id = ?", session)

    def add(self, step: Step, body: str | bytes) -> bool:
        """Add one step with its packed text, and return whether it is new to the session.

        A step that is already archived is only marked as shared with this session.
        """
        if self._forgotten_at is not None and step.at <= self._forgotten_at:
            return False
        key = uuid_key(step.uuid)
        known = self._run("SELECT id, turn, kind FROM step WHERE uuid = ? AND block = ?", (key, step.block)).fetchone()
        if known is not None:
            return self._add_known(*known)
        if self._forgotten and f"{step.uuid}/{step.block}" in self._forgotten:
            return False
        if step.starts_turn or not self._is_own_turn:
            # A turn starts at a prompt, or if a session continues one that it was forked from.
            self.turn, self._is_own_turn = self._after_last("turn"), True
            self._run("INSERT INTO turn VALUES (?, ?, ?, ?)", (self.turn, self._session, step.agent, step.at))
        if step.kind == TOOL_RESULT and (met := self._meet(step, key)) is not None:
            return met
        if step.text.startswith(DATA_URL) and (first := self._same_medium(body)):
            body = f"[the same as in entry {first}]"
            step = step.replace(text=body)
        number = self.last = self._next_step
        stored = {"uuid": key, "kind": KIND_NUMBERS[step.kind], "is_error": step.is_error or None, "text": body}
        values: dict[str, Any] = {**step.as_dict(), **stored}
        self._run(_INSERT, (number, self.turn, *map(values.__getitem__, STEP_FIELDS)))
        self._next_step += 1
        self.added += 1
        self.tool_calls += step.kind == TOOL_CALL
        add_to_index(self._archive, number, step)
        return True

    def _same_medium(self, body: str | bytes) -> str:
        """Return the earlier entry of the session with the same image or document, or ""."""
        query = (
            "SELECT step.uuid FROM turn JOIN step ON step.turn = turn.id "
            "WHERE session = ? AND kind = ? AND length(body) = ? AND body = ? LIMIT 1"
        )
        row = self._run(query, (self._session, KIND_NUMBERS[ATTACHMENT], len(body), body)).fetchone()
        return "" if row is None else uuid_text(row[0])

    def _meet(self, step: Step, key: str | bytes) -> bool | None:
        """Move an output that was archived before its entry to the position of the entry.

        Return whether it still exists (a forgotten one stays forgotten), or None if it is not the output of this entry.
        """
        if step.tool_use_id not in self._awaited:
            return None
        number, shown = self._awaited[step.tool_use_id]
        kind, body, turn = self._run("SELECT kind, body, turn FROM step WHERE id = ?", (number,)).fetchone()
        archived = unpack(body)
        from unified_state.archive.cut_outputs import whole_of  # only where outputs were shortened

        text = whole_of(step.text, archived, f"S{number}", shown)
        if text is None:
            return None
        del self._awaited[step.tool_use_id]
        self._run("UPDATE shortened SET awaited = NULL, place = ? WHERE step = ?", (self._next_step - 1, number))
        self.last = number
        if kind is not None:
            self.added += 1
            if text != archived:
                from unified_state.archive.text_columns import replace_text  # where the client added something

                replace_text(self._archive, number, step.replace(text=archived), text)
        # Last, so that a server which has the step under its first uuid gets the new uuid together with the text.
        self._run(
            "UPDATE step SET turn = ?, uuid = ?, block = ?, at = ? WHERE id = ?",
            (self.turn, key, step.block, step.at, number),
        )
        self._run("DELETE FROM turn WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM step WHERE turn = ?1)", (turn,))
        return kind is not None

    def _after_last(self, table: str) -> int:
        return int(self._run(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0])

    def _owner(self, turn: int) -> int:
        (owner,) = self._run("SELECT session FROM turn WHERE id = ?", (turn,)).fetchone()
        return int(owner)

    def _add_known(self, number: int, turn: int, kind: int | None) -> bool:
        """Continue in the turn of a step that is already archived, and mark the step as shared with this session.

        Return whether the mark is new. A forgotten step does not count.
        """
        self.last = number
        self.turn = turn
        self._is_own_turn = self._owner(turn) == self._session
        if self._is_own_turn:
            return False
        self._run("INSERT OR IGNORE INTO step_copy VALUES (?, ?)", (self._session, number))
        (marked,) = self._run("SELECT changes()").fetchone()  # `Archive.run` explains why not `rowcount`
        return bool(marked) and kind is not None


def awaited_outputs(archive: Archive, session: int) -> dict[str, tuple[int, int]]:
    """Return the outputs whose entries were not read yet: step and length of the short form, by tool call."""
    rows = archive.rows("SELECT tool_use_id, step, shown FROM shortened WHERE session = ? AND awaited = 1", session)
    return {tool_use_id: (step, shown) for tool_use_id, step, shown in rows}
