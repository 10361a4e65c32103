"""The items that a state file shows and the JSON history does not have: those of an archive that cannot be used now.

They stay in the file as they are, and a restore tells them, where the file is as we wrote it last.
"""

from __future__ import annotations

from unified_state.records.item import ALIAS_LETTERS, LedgerItem
from unified_state.rules.state_entries import raw_entries
from unified_state.rules.timestamps import to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_SHARED = ("id", "timestamp", "origin", "status", "files")


def carried_items(present: dict[str, Any], known: Iterable[str], now: int) -> list[LedgerItem]:
    """The items of a state file's JSON whose aliases are not known."""
    taken = set(known)
    return [
        LedgerItem(
            uuid=f"state-file/{entry['id']}",
            alias=entry["id"],
            kind=kind,
            body={name: value for name, value in entry.items() if name not in _SHARED},
            status=str(entry.get("status") or "active"),
            origin=str(entry.get("origin") or "inferred"),
            created_at=str(entry.get("timestamp") or to_text(now)),
            files=tuple(map(str, entry["files"])) if isinstance(entry.get("files"), list) else (),
        )
        for kind, entry in _entries(present)
        if entry["id"] not in taken
    ]


def highest_number(present: dict[str, Any], kind: str) -> int:
    """The highest number of an alias of a kind that a state file shows."""
    letter = ALIAS_LETTERS[kind]
    aliases = (entry["id"] for _, entry in _entries(present))
    return max((int(alias[1:]) for alias in aliases if alias[:1] == letter and alias[1:].isdecimal()), default=0)


def _entries(present: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((kind, entry) for kind, entry in raw_entries(present) if isinstance(entry.get("id"), str))
