"""Add failed attempts to a prompt that names their file or command.

Only attempts that this conversation does not contain are added: those of other sessions, and those from before a
compaction. Each is added once.
"""

from __future__ import annotations

import os

from unified_state.lib.identifiers import mentioned_files
from unified_state.lib.text import unpack
from unified_state.lib.times import to_milliseconds
from unified_state.memory.archive.compactions import latest_compaction
from unified_state.memory.ledger.item_table import newest_items
from unified_state.memory.ledger.rules.item_lines import item_line
from unified_state.model.item import ATTEMPT
from unified_state.model.known import TRIED
from unified_state.restore.fenced_text import fence_and_remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem

_LOOKED_AT, _TOLD = 20, 3  # attempts
_LINE_CHARACTERS = 400
_SHORTEST_COMMAND = 6  # a prompt contains a shorter one by chance
_HEAD = "[FAILED ATTEMPTS] on what this prompt names"


def tried_before(archive: Archive, session: int, session_id: str, prompt: str, now: int) -> str:
    """Return the fenced text for a prompt and record it, or return "" if no attempt failed."""
    named = {os.path.basename(path) for path in mentioned_files(prompt)}
    attempts = [item for item in newest_items(archive, ATTEMPT, _LOOKED_AT) if _is_named(item, named, prompt)]
    unknown = [item for item in attempts if not _is_known(archive, session, session_id, item)]
    if not unknown:
        return ""
    text = "\n".join([_HEAD, *(f"  {item_line(item, _LINE_CHARACTERS)}" for item in unknown[:_TOLD])])
    return fence_and_remember(archive, session, TRIED, text, now)


def names_of_attempts(archive: Archive) -> list[str]:
    """Return the names of files and the commands, one of which a prompt contains if it names a failed attempt."""
    names = set()
    for item in newest_items(archive, ATTEMPT, _LOOKED_AT):
        command = item.body.get("command") or ""
        names |= {*map(os.path.basename, item.files), *([command] if len(command) >= _SHORTEST_COMMAND else ())}
    return sorted(filter(None, names))


def _is_named(item: LedgerItem, named: set[str], prompt: str) -> bool:
    command = item.body.get("command") or ""
    return not named.isdisjoint(map(os.path.basename, item.files)) or (
        len(command) >= _SHORTEST_COMMAND and command in prompt
    )


def _is_known(archive: Archive, session: int, session_id: str, item: LedgerItem) -> bool:
    """Return whether the conversation still contains the attempt, or already received it."""
    compaction = latest_compaction(archive, session)
    since = (compaction.kept_at or compaction.started_at) if compaction else 0
    if item.session_id == session_id and (to_milliseconds(item.created_at) or 0) >= since:
        return True
    given = archive.rows("SELECT body FROM restore WHERE session = ? AND at >= ?", session, since)
    return any(f"{item.alias} (" in unpack(body) for (body,) in given)
