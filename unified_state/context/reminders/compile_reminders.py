"""Compile the reminders of a repository from its ledger into the table, and install the hook that reads it.

A use of the archive that may have changed the ledger compiles them again, where the user turned reminders on. The hook
is in the settings only for the tools about which a live session has something to be told.
"""

from __future__ import annotations

import os

from unified_state.agents.install.hook_table import reminder_matcher
from unified_state.constraints.constraint_table import settings_lock, settings_path
from unified_state.context.reminders.reminder_table import encoded_reminders, table_path, worktrees_on
from unified_state.context.reminders.rules.match_call import BEGINNING
from unified_state.errors import UnifiedStateError
from unified_state.lib.files import FileLock, write_note
from unified_state.lib.stdlib import LARGE_FILE, DatabaseError, parse_json, read_regular
from unified_state.lib.text import cut
from unified_state.lib.times import current_time, to_milliseconds
from unified_state.memory.archive.compactions import latest_compaction
from unified_state.memory.archive.sessions import is_running, session_number
from unified_state.memory.ledger.item_table import ACTIVE, said_items, selected_items
from unified_state.memory.ledger.rules.item_lines import harmless, item_line
from unified_state.memory.ledger.rules.short_item import main_text, scope_in
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, EVIDENCE, TASK_RULE
from unified_state.model.reminder import EDITING_TOOLS, SHELL_TOOL, Reminder, Reminders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.item import LedgerItem

_LOCK_SECONDS = 4.0
_MOST = 60  # newest facts of a kind
_MOST_FAILURES = 400  # failures among which the newest of each command are looked for
_CHARACTERS = 300  # of a fact in a line
_HOUR = 3_600_000


def settle_reminders(archive: Archive, workspace: Workspace) -> None:
    """Update the table and the hook. The ledger has the change already, so a failure is reported and not raised."""
    folder = workspace.place.folder
    try:
        reminders = _Compiler(archive).reminders()
        if _is_changed(folder, reminders):
            with FileLock(f"{table_path(folder)}.lock", _LOCK_SECONDS):
                reminders = _Compiler(archive).reminders()  # includes what another process recorded meanwhile
                write_note(table_path(folder), encoded_reminders(reminders))
        _put_hooks(workspace, _matcher(archive, workspace, reminders))
    except (UnifiedStateError, DatabaseError, OSError, TimeoutError) as error:
        workspace.report(f"reminders before tool calls are not up to date: {error}")


def _is_changed(folder: str, reminders: Reminders) -> bool:
    try:
        return read_regular(table_path(folder), LARGE_FILE) != encoded_reminders(reminders)
    except OSError:
        return True


class _Compiler:
    """Compiles the reminders from one archive."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._begins: dict[str, int] = {}  # of the present conversation of each session, in milliseconds

    def reminders(self) -> Reminders:
        return Reminders(commands=tuple(self._of_commands()), files=tuple(self._of_files()))

    def _of_commands(self) -> Iterator[Reminder]:
        """Yield a reminder for each command whose newest run failed: the newest failure."""
        newest: dict[tuple[str, str], list[str]] = {}
        query = "SELECT root, call, item FROM failing WHERE tool = ? ORDER BY at DESC LIMIT ?"
        for root, call, uuid in self._archive.rows(query, SHELL_TOOL, _MOST_FAILURES):
            newest.setdefault((root, call), []).append(uuid)
        for (root, call), uuids in list(newest.items())[:_MOST]:
            for item in selected_items(self._archive, "WHERE uuid = ? AND status = ?", uuids[0], ACTIVE):
                reminder = self._reminder(item, _failure_text(item, len(uuids)))
                yield reminder.replace(root=root, digest=call, begin=_beginning(item))

    def _of_files(self) -> Iterator[Reminder]:
        """Yield a reminder for each fact that names a file: constraints, attempts, decisions, what was only said."""
        where = "WHERE kind = ? AND status = ? AND files NOT NULL ORDER BY id DESC LIMIT ?"
        for kind in (CONSTRAINT, ATTEMPT, DECISION):
            for item in selected_items(self._archive, where, kind, ACTIVE, _MOST):
                if scope_in(item.body) is None:  # an enforced constraint speaks for itself
                    yield self._about_files(item, f"Recorded about this file: {item_line(item, _CHARACTERS)}")
        for item in said_items(self._archive)[: -_MOST - 1 : -1]:
            if item.files and item.rule != TASK_RULE:
                said = cut(harmless(main_text(item)), _CHARACTERS)
                yield self._about_files(item, f"Said about this file: {item.alias} (not confirmed): {said}")

    def _about_files(self, item: LedgerItem, text: str) -> Reminder:
        files = tuple(path.replace("\\", "/").removeprefix("./") for path in item.files)
        return self._reminder(item, text).replace(files=files)

    def _reminder(self, item: LedgerItem, text: str) -> Reminder:
        own = item.session_id or ""
        is_in_conversation = (to_milliseconds(item.created_at) or 0) >= self._begin(own) if own else False
        return Reminder(item.alias, text, own if is_in_conversation else "")

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


def _beginning(item: LedgerItem) -> str:
    """Return the beginning of the command of a failed or refused call."""
    text = item.body.get("command") or str(item.body.get("source") or "").removeprefix(f"{SHELL_TOOL}: ")
    return " ".join(str(text).split()).removesuffix(" 2>&1")[:BEGINNING]


def _matcher(archive: Archive, workspace: Workspace, reminders: Reminders) -> str:
    """Return the matcher of the tools about which a session has something to be told; "" for none.

    What only one live session knows, and has in its conversation, is nothing to tell.
    """
    since = current_time() - workspace.settings.session_hours * _HOUR
    query = "SELECT session_id, pid FROM session WHERE seen_at >= ? AND ended_at IS NULL"
    live = {session_id for session_id, pid in archive.rows(query, since) if is_running(pid)}

    def is_told(reminder: Reminder) -> bool:
        return not reminder.session or bool(live - {reminder.session})

    tools = (SHELL_TOOL,) if any(map(is_told, reminders.commands)) else ()
    return "|".join(tools + (EDITING_TOOLS if any(map(is_told, reminders.files)) else ()))


def _put_hooks(workspace: Workspace, matcher: str) -> None:
    """Put the hook into the settings of each worktree with reminders, for the tools of a matcher ("": remove it)."""
    for worktree in filter(os.path.isdir, worktrees_on(workspace.place.folder)):
        path = settings_path(worktree)
        if _present_matcher(path) != matcher:
            from unified_state.agents.install.install_claude_code import put_reminder_hook  # few uses change it
            from unified_state.memory.repository.git_exclude import exclude_from_git

            with settings_lock(workspace.place.folder):
                is_new = put_reminder_hook(path, workspace.settings.data_dir, matcher)
            if is_new:
                exclude_from_git(workspace.place, [os.path.basename(path)])


def _present_matcher(path: str) -> str:
    try:
        return reminder_matcher(parse_json(read_regular(path, LARGE_FILE).decode()))
    except (OSError, ValueError):
        return ""
