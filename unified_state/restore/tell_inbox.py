"""Tell the user that something waits for their decision: in one line, and once ever for each item.

A correction that the user typed is only listed in the inbox, so it is not told.
"""

from __future__ import annotations

from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import cut
from unified_state.memory.ledger.item_table import PROPOSED, selected_items
from unified_state.memory.ledger.rules.from_file import KEYS_FROM_FILE
from unified_state.memory.ledger.rules.item_lines import harmless
from unified_state.memory.ledger.rules.short_item import main_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, CORRECTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

_TOLD = "told items of the inbox"  # the name of the value in the archive: the ends of their UUIDs
_DIGITS, _CHARACTERS = 12, 60  # the end of a UUID is random
# The user is told of a state file once, as a whole.
_WAITING = "SELECT uuid FROM item WHERE status = ? AND rule IS NOT ? AND coalesce(capture_key, '') NOT GLOB ?"


def tell_waiting(archive: Archive) -> str:
    """Return the line about what waits and was not told, or "" if there is nothing. From now on it was told."""
    line = waiting_line(archive)
    if line:
        with archive.transaction(durable=False):
            archive.set_meta(_TOLD, dump_json(sorted({*_told(archive), *map(_end, _new(archive))})))
    return line


def waiting_line(archive: Archive) -> str:
    """Return the line about what waits and was not told, or "" if there is nothing."""
    new = _new(archive)
    if not new:
        return ""
    items = selected_items(archive, "WHERE status = ? ORDER BY id DESC", PROPOSED)
    items = [item for item in items if item.uuid in new]
    rules = [main_text(item) for item in items if item.kind == CONSTRAINT and item.origin == USER_SAID]
    return _line(rules, len(items) - len(rules))


def _line(rules: list[str], others: int) -> str:
    """Return `1 rule of yours waits for confirmation: "Never push" (unified-state inbox)`.

    Only the user's own rules are quoted: a foreign file may have brought the others.
    """
    counted = [(len(rules), "rule of yours", "rules of yours"), (others, "recorded item", "recorded items")]
    what = " and ".join(f"{count:,} {one if count == 1 else many}" for count, one, many in counted if count)
    is_one = len(rules) + others == 1
    newest = f'{":" if is_one else ", the newest:"} "{cut(harmless(rules[0]), _CHARACTERS)}"' if rules else ""
    return f"{what} {'waits' if is_one else 'wait'} for confirmation{newest} (unified-state inbox)"


def _new(archive: Archive) -> set[str]:
    """Return the UUIDs of the items that wait and were not told."""
    waiting = {uuid for (uuid,) in archive.rows(_WAITING, PROPOSED, CORRECTION, KEYS_FROM_FILE)}
    told = _told(archive) if waiting else set()
    return {uuid for uuid in waiting if _end(uuid) not in told}


def _end(uuid: str) -> str:
    return uuid[-_DIGITS:]


def _told(archive: Archive) -> set[str]:
    try:
        told = parse_json(archive.meta(_TOLD) or "[]")
    except ValueError:  # damaged: all that waits is told once more
        return set()
    return set(map(str, told)) if isinstance(told, list) else set()
