"""Compile what an agent is told before a tool call: rows of mode `tell`, from the facts about commands and files.

They are compiled where the user turned reminders on. The table has the newest facts of each kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import latest_compaction
from unified_state.archive.sessions import session_number
from unified_state.ledger.item_table import ACTIVE, selected_items
from unified_state.ledger.rules.item_lines import item_line
from unified_state.ledger.rules.short_item import scope_in
from unified_state.lib.times import to_milliseconds
from unified_state.model.constraint import SHELL_TOOL, TELL, EnforcedRow
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, EVIDENCE, LedgerItem

_MOST = 60  # newest facts of a kind
_MOST_FAILURES = 400  # failures among which the newest of each command are looked for
_CHARACTERS = 300  # of a fact in a line


class ToldCompiler:
    """Compiles the rows from one archive. `worktree` is where the files that a fact names are looked for."""

    def __init__(self, archive: Archive, worktree: str) -> None:
        self._archive, self._worktree = archive, worktree
        self._begins: dict[str, int] = {}  # of the present conversation of each session, in milliseconds

    def rows(self) -> tuple[EnforcedRow, ...]:
        """Return the rows: of each command whose newest run failed, and of each fact that names a file."""
        return (*self._of_commands(), *self._of_files())

    def _of_commands(self) -> Iterator[EnforcedRow]:
        newest: dict[tuple[str, str], list[str]] = {}
        query = "SELECT root, call, item FROM failing WHERE tool = ? ORDER BY at DESC LIMIT ?"
        for root, call, uuid in self._archive.rows(query, SHELL_TOOL, _MOST_FAILURES):
            newest.setdefault((root, call), []).append(uuid)
        for (root, call), uuids in list(newest.items())[:_MOST]:
            for item in selected_items(self._archive, "WHERE uuid = ? AND status = ?", uuids[0], ACTIVE):
                row = self._row(item, _failure_text(item, len(uuids)))
                yield row.replace(tools=(SHELL_TOOL,), root=root, digest=call)

    def _of_files(self) -> Iterator[EnforcedRow]:
        where = "WHERE kind = ? AND status = ? AND files NOT NULL ORDER BY id DESC LIMIT ?"
        for kind in (CONSTRAINT, ATTEMPT, DECISION):
            for item in selected_items(self._archive, where, kind, ACTIVE, _MOST):
                if scope_in(item.body) is None:  # an enforced constraint speaks for itself
                    yield self._about_files(item, f"Recorded about this file: {item_line(item, _CHARACTERS)}")

    def _about_files(self, item: LedgerItem, text: str) -> EnforcedRow:
        return self._row(item, text).replace(paths=tuple(map(self._pattern, item.files)))

    def _pattern(self, named: str) -> str:
        """Return the pattern of a file. A fact may name it by the end of its path alone."""
        path = named.replace("\\", "/").removeprefix("./")
        if path.startswith("/"):
            return path
        return f"./{path}" if os.path.lexists(os.path.join(self._worktree, path)) else f"**/{path}"

    def _row(self, item: LedgerItem, text: str) -> EnforcedRow:
        own = item.session_id or ""
        is_in_conversation = own and (to_milliseconds(item.created_at) or 0) >= self._begin(own)
        session = own if is_in_conversation else ""
        return EnforcedRow(item.alias, text, "", item.origin, item.created_at, TELL, TELL, session=session)

    def _begin(self, session_id: str) -> int:
        """Return the time from which a session's conversation still has what was said in it."""
        if session_id not in self._begins:
            number = session_number(self._archive, session_id)
            compaction = None if number is None else latest_compaction(self._archive, number)
            self._begins[session_id] = (compaction.kept_at or compaction.started_at) if compaction else 0
        return self._begins[session_id]


def _failure_text(item: LedgerItem, times: int) -> str:
    if item.kind != EVIDENCE:
        return f"Recorded about this command: {item_line(item, _CHARACTERS)}"
    often = f", {times} times in a row" if times > 1 else ""
    shown = item.replace(body={**item.body, "source": ""})  # the call itself shows the command
    return f"This command failed when it was last run{often}: {item_line(shown, _CHARACTERS)}"
