"""The entries of a state file that anybody may have written: of each, what can be used of it.

Nothing here raises, whatever the file holds.
"""

from __future__ import annotations

from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import cut
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.model.constraint import INFERRED, MODES, ORIGINS
from unified_state.model.item import (
    ATTEMPT,
    CONSTRAINT,
    DECISION,
    EVIDENCE,
    EVIDENCE_TYPES,
    MAIN_FIELDS,
    PRIORITIES,
    QUESTION,
)
from unified_state.model.scope import read_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SECTIONS = {
    "decisions": DECISION,
    "constraints": CONSTRAINT,
    "openQuestions": QUESTION,
    "evidenceLedger": EVIDENCE,
    "failedAttempts": ATTEMPT,
}
# The other fields of a body, each with what a new item has where the value is missing or of another kind.
OTHER_FIELDS: dict[str, dict[str, Any]] = {
    DECISION: {"rationale": "", "reversible": True},
    CONSTRAINT: {"source": "", "blocking": False},
    QUESTION: {"context": "", "priority": "medium"},
    EVIDENCE: {"type": "observation", "source": ""},
    ATTEMPT: {"outcome": ""},
}
SETTLED = ("superseded", "resolved")  # it asks nothing of anybody any more, whoever says so
_IN_FORCE, _PROPOSED, _RESOLVED = "active", "proposed", "resolved"
_CHOICES = {"priority": PRIORITIES, "type": EVIDENCE_TYPES}
LONGEST = 20_000  # characters of one adopted text
_HIGHEST_NUMBER = 1_000_000  # an alias above it was not counted up to


class StateEntry(Record):
    """An entry of a state file that somebody else may have written. `said` holds what can be used of its body;
    `timestamp` is its own, where it has one.
    """

    kind: str
    alias: str
    said: dict[str, Any]
    status: str
    origin: str
    created_at: str
    timestamp: int | None


def raw_entries(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects in the sections of a file, each with its kind."""
    for section, kind in SECTIONS.items():
        entries = state.get(section)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict):
                yield kind, entry


def read_entries(state: dict[str, Any], now: int) -> Iterator[StateEntry]:
    """The entries that say something. One without a time of its own counts as of now, and none is from the future."""
    for kind, raw in raw_entries(state):
        main = raw.get(MAIN_FIELDS[kind])
        if isinstance(main, str) and main.strip():
            yield _read_entry(kind, raw, main, now)


def alias_number(alias: object) -> int:
    """The number of an alias such as D7; 0 for anything else."""
    digits = alias[1:] if isinstance(alias, str) else ""
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 0  # noqa: PLR2004
    return number if number <= _HIGHEST_NUMBER else 0


def _read_entry(kind: str, raw: dict[str, Any], main: str, now: int) -> StateEntry:
    said: dict[str, Any] = {MAIN_FIELDS[kind]: cut(main, LONGEST)}
    for name, default in OTHER_FIELDS[kind].items():
        value = raw.get(name)
        if isinstance(value, type(default)) and value in _CHOICES.get(name, (value,)):
            said[name] = cut(value, LONGEST) if isinstance(value, str) else value
    if kind == CONSTRAINT and raw.get("mode") in MODES and (scope := read_scope(raw.get("scope"))) is not None:
        said |= {"scope": disk_value(scope), "mode": raw["mode"]}
    status = raw.get("status", _IN_FORCE)
    if kind == QUESTION:
        status = _RESOLVED if raw.get("resolved") is True else status
        if isinstance(raw.get("resolution"), str):
            said["resolution"] = cut(raw["resolution"], LONGEST)
        if to_milliseconds(raw.get("resolvedAt")) is not None:
            said["resolvedAt"] = raw["resolvedAt"]
    timestamp = to_milliseconds(raw.get("timestamp"))
    return StateEntry(
        kind=kind,
        alias=str(raw.get("id") or ""),
        said=said,
        status=status if status in (_IN_FORCE, _PROPOSED, *SETTLED) else _PROPOSED,
        origin=raw["origin"] if raw.get("origin") in ORIGINS else INFERRED,
        created_at=to_text(now if timestamp is None else min(timestamp, now)),
        timestamp=timestamp,
    )
