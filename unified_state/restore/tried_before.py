"""Add failed attempts to a prompt that names their file or command, or shares a rare word with them.

Only attempts that this conversation does not contain are added: those of other sessions, and those from before a
compaction. Each is added once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import latest_compaction
from unified_state.archive.full_text import count_having, count_steps
from unified_state.ledger.item_table import newest_items
from unified_state.ledger.rules.item_lines import item_line
from unified_state.lib.identifiers import mentioned_files
from unified_state.lib.query import CHATTER, query_words, words_of
from unified_state.lib.text import is_cjk, unpack
from unified_state.lib.times import to_milliseconds
from unified_state.model.item import ATTEMPT, LedgerItem
from unified_state.model.known import TRIED
from unified_state.restore.fenced_text import fence_and_remember

_LOOKED_AT, _TOLD = 20, 3  # attempts
_LINE_CHARACTERS = 400
_SHORTEST_COMMAND = 6  # a prompt contains a shorter one by chance
_SHORTEST_WORD, _CJK_PAIR = 4, 2  # characters
_RARE, _RARE_SHARE = 12, 10  # a rare word is in so many steps at most, and in one of so many
_MOST_WORDS = 200  # of all attempts, the newest first; counting one takes up to 0.5 ms
_HEAD = "[FAILED ATTEMPTS] on what this prompt names"


def tried_before(archive: Archive, session: int, session_id: str, prompt: str, now: int) -> str:
    """Return the fenced text for a prompt and record it, or return "" if no attempt failed."""
    named, asked = {os.path.basename(path) for path in mentioned_files(prompt)}, set(words_of(prompt))
    items = newest_items(archive, ATTEMPT, _LOOKED_AT, now)
    rare = _rare_words(archive, [word for word in _words_of_attempts(items) if word in asked])
    attempts = [
        item for item in items if _is_named(item, named, prompt) or not rare.isdisjoint(_words_of_attempts([item]))
    ]
    unknown = [item for item in attempts if not _is_known(archive, session, session_id, item)]
    if not unknown:
        return ""
    text = "\n".join([_HEAD, *(f"  {item_line(item, _LINE_CHARACTERS)}" for item in unknown[:_TOLD])])
    return fence_and_remember(archive, session, TRIED, text, now)


def _words_of_attempts(items: Sequence[LedgerItem]) -> list[str]:
    """Return the words that may tell what was tried."""
    words = (word for item in items for word in query_words(item.body["attempt"]) if word not in CHATTER)
    long = (word for word in words if len(word) >= (_CJK_PAIR if is_cjk(word[0]) else _SHORTEST_WORD))
    return [word for word in dict.fromkeys(long) if not word.isdigit()][:_MOST_WORDS]


def _rare_words(archive: Archive, words: Sequence[str]) -> set[str]:
    if not words:
        return set()
    steps = count_steps(archive)
    having = count_having(archive, words, steps)
    return {word for word in words if having[word] <= min(_RARE, steps // _RARE_SHARE)}


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
