"""The text that PreCompact passes to the summariser: the recorded items to keep, and the format of its block.

The text states facts and gives no orders, because the client repeats it in the conversation after a manual compaction.
Each item has its source. What the user did not say is fenced as data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from unified_state.capture.rules.summary_block import FORM
from unified_state.ledger.rules.item_lines import ORIGINS, harmless
from unified_state.ledger.rules.short_item import oldest_first
from unified_state.lib.fence import fenced
from unified_state.lib.text import cut, one_line
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION, MAIN_FIELDS, QUESTION, LedgerItem
from unified_state.model.session_state import State

_KINDS = {DECISION, CONSTRAINT, QUESTION}
_CHARACTERS = 160
SHOWN = 400  # bytes: a manual compaction shows the text on the screen, and repeats it in the conversation
_OPENING = "The summary contains exact paths, names, commands with their outcome, errors and numbers"
_ITEMS = ", and these recorded items (id, source):"
_ABOUT = "recorded items that the user did not say, and the work, as data"
COMPACT = "/compact Keep exact paths, names, commands and errors"
COMPACT_LINE = 1_500  # characters of that line
_ANSWERED = 8  # lines of the answer to /context-compact about items
_COMPACT_ITEMS = ", and these recorded items with their ids:"
# Beginnings of the session ids that imports give.
IMPORTED = ("claude-flow:", "claude-mem:", "elsewhere:")


def keep_list(
    items: Sequence[LedgerItem], state: State | None, limit: int, nonce: str, now: int, work: Iterable[str] = ()
) -> str:
    """Return the text, at most `limit` bytes, or "" if not even its beginning and the block fit. Without a state it has
    the items and the lines about the work alone.
    """
    room = limit - len(f"{_OPENING}{_ITEMS}\n{FORM}".encode())
    fence = len(f"\n{fenced('', nonce, _ABOUT)}".encode())
    said: list[str] = []
    others: list[str] = []
    for line, is_said in chain(_lines(items, state, now), ((line, False) for line in work)):
        room -= len(f"\n{line}".encode()) + (fence if not (is_said or others) else 0)
        if room < 0:
            break
        (said if is_said else others).append(line)
    data = [fenced("\n".join(others), nonce, _ABOUT)] if others else []
    text = "\n".join([_OPENING + _ITEMS, *said, *data, FORM] if said or data else [f"{_OPENING}.", FORM])
    return text if len(text.encode()) <= limit else ""


def compact_answer(items: Sequence[LedgerItem], state: State | None, now: int, asked: str) -> str:
    """Return what comes back after a compaction, in ten lines, and the line that compacts and keeps what is `asked`."""
    lines = [line for line, _ in _lines(items, state, now)]
    more = [f"… and {len(lines) - _ANSWERED} more"] if len(lines) > _ANSWERED else []
    line = "; ".join(filter(None, (compact_line(items, state, COMPACT_LINE, now), one_line(asked))))
    told = ["Saved. After a compaction this comes back:", *lines[:_ANSWERED], *more] if lines else ["Saved."]
    return "\n".join([*told, "Send this line to compact, with a summary that keeps it too:", line])


def compact_line(items: Sequence[LedgerItem], state: State | None, limit: int, now: int) -> str:
    """Return the command line that compacts and keeps the recorded facts, at most `limit` characters."""
    line = ""
    for part, _ in _lines(items, state, now):
        if len(COMPACT) + len(_COMPACT_ITEMS) + len(line) + len(part) + 2 > limit:
            break
        line += f" {part};"
    return f"{COMPACT}{_COMPACT_ITEMS}{line[:-1]}" if line else COMPACT


def _lines(items: Sequence[LedgerItem], state: State | None, now: int) -> Iterator[tuple[str, bool]]:
    """Yield short lines for the current work, the next steps and the items, the most important first, and for each
    whether the user said it. A session notes its work and its next steps itself.
    """
    work = state.work_item if state is not None else None
    if work is not None and (work.id or work.title):
        named = ", ".join(filter(None, (work.id, work.title, work.phase)))
        yield cut(harmless(f"Work in hand: {named}"), _CHARACTERS), False
    for action in state.summaries.pending_actions if state is not None else ():
        yield f"To do: {cut(harmless(action), _CHARACTERS)}", False
    by_number = sorted((item for item in items if item.kind in _KINDS), key=lambda item: -int(item.alias[1:]))
    newest_first = oldest_first(reversed(by_number), now)[::-1]
    for item in sorted(newest_first, key=_is_lesser):
        is_imported = (item.session_id or "").startswith(IMPORTED)
        source = f"imported, {ORIGINS[item.origin]}" if is_imported else ORIGINS[item.origin]
        text = cut(harmless(item.body[MAIN_FIELDS[item.kind]]), _CHARACTERS)
        yield f"{item.alias} ({source}): {text}", item.origin == USER_SAID and not is_imported


def _is_lesser(item: LedgerItem) -> bool:
    """Return whether an item is not binding."""
    body = item.body
    return not (body.get("blocking") or body.get("reversible") is False or body.get("priority") == "high")
