"""Tell the user that something waits for their decision: in one line, at most once in each session."""

from __future__ import annotations

from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import cut
from unified_state.memory.ledger.item_table import PROPOSED, selected_items
from unified_state.memory.ledger.rules.from_file import KEYS_FROM_FILE
from unified_state.memory.ledger.rules.item_lines import harmless
from unified_state.memory.ledger.rules.short_item import main_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

_TOLD = "told of the inbox"  # the name of the value in the archive: the numbers of the sessions that were told
_WAITS = "status = ? AND coalesce(capture_key, '') NOT GLOB ?"  # of a state file the user is told once, as a whole
_MOST_SESSIONS, _CHARACTERS = 100, 60


def tell_waiting(archive: Archive, session: int) -> str:
    """Return the line about what waits, or "" if nothing does or if this session was told."""
    line = waiting_line(archive)
    if not line:
        return ""
    with archive.transaction(durable=False):
        told = _told(archive)
        if session in told:
            return ""
        archive.set_meta(_TOLD, dump_json([*told, session][-_MOST_SESSIONS:]))
    return line


def waiting_line(archive: Archive) -> str:
    """Return the line about what waits, for a session that was not told, or "" if nothing does."""
    where = f"WHERE {_WAITS} ORDER BY kind = 'constraint' AND origin = 'user_said' DESC, id DESC"
    waiting = selected_items(archive, where, PROPOSED, KEYS_FROM_FILE)
    if not waiting:
        return ""
    rules = [item for item in waiting if item.kind == CONSTRAINT and item.origin == USER_SAID]
    return rules_line(len(rules), main_text(rules[0])) if rules else items_line(len(waiting))


def is_to_be_told(archive: Archive, session: int) -> bool:
    """Return whether something waits of which a session was not told."""
    waits = selected_items(archive, f"WHERE {_WAITS} LIMIT 1", PROPOSED, KEYS_FROM_FILE)
    return bool(waits) and session not in _told(archive)


def rules_line(count: int, newest: str) -> str:
    """Return `1 rule of yours waits for confirmation: "Never push" (unified-state inbox)`."""
    named = f'"{cut(harmless(newest), _CHARACTERS)}" (unified-state inbox)'
    if count == 1:
        return f"1 rule of yours waits for confirmation: {named}"
    return f"{count:,} rules of yours wait for confirmation, the newest: {named}"


def items_line(count: int) -> str:
    """Return the line about items that the user did not say. None is quoted: an agent may have made it."""
    what = "1 recorded item waits" if count == 1 else f"{count:,} recorded items wait"
    return f"{what} for confirmation (unified-state inbox)"


def _told(archive: Archive) -> list[int]:
    try:
        told = parse_json(archive.meta(_TOLD) or "[]")
    except ValueError:  # damaged: a session may be told twice
        return []
    return told if isinstance(told, list) else []
