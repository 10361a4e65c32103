"""Which proposals came from a state file that this archive did not write, and what each says there.

The capture key of such an item tells both, so that the same entry is proposed once, whatever became of it.
"""

from __future__ import annotations

from typing import Any

from unified_state.lib.json_text import dump_json
from unified_state.lib.text import text_hash
from unified_state.model.item import LedgerItem

KEYS_FROM_FILE = "state file:*"  # a GLOB pattern
_PREFIX = KEYS_FROM_FILE[:-1]


def key_from_file(status: str, entry: Any) -> str:
    """Return the capture key of an entry, given as JSON, that has a status in its file."""
    return f"{_PREFIX}{status}:{text_hash(dump_json(entry))}"


def is_from_file(item: LedgerItem) -> bool:
    """Return whether an item came from a state file that this archive did not write."""
    return (item.capture_key or "").startswith(_PREFIX)


def status_in_file(item: LedgerItem) -> str:
    """Return the status that such an item has in its file, or ""."""
    return item.capture_key.split(":")[1] if item.capture_key and is_from_file(item) else ""
