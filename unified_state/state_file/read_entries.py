"""A tolerant reader of the entries and the notes of state files, which any program may have written.

No function here raises, whatever the file holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.hosts.transcripts.transcript_lines import object_in, text_in
from unified_state.ledger.waiting_notes import ACTION, HIGHLIGHT, WORK_ITEM, FileNote
from unified_state.lib.json_text import dump_json
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import cut, one_line
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.model.constraint import INFERRED, MODES, ORIGINS
from unified_state.model.item import (
    CONSTRAINT,
    DECISION,
    EVIDENCE_TYPES,
    MAIN_FIELDS,
    OTHER_FIELDS,
    PRIORITIES,
    QUESTION,
)
from unified_state.model.scope import read_scope
from unified_state.state_file.state_file import raw_entries

SETTLED = ("superseded", "resolved")
_IN_FORCE, _PROPOSED, _RESOLVED = "active", "proposed", "resolved"
_CHOICES = {"priority": PRIORITIES, "type": EVIDENCE_TYPES}
LONGEST = 20_000  # characters of one adopted text
_KEY_DECISION = 100  # characters, to which our own files cut one
_HIGHEST_NUMBER = 1_000_000  # larger numbers do not come from our counter


class StateEntry(Record):
    """An entry of a state file, which another program may have written.

    `said` has the valid fields of its body. `alias` is "" if it has none.
    """

    kind: str
    alias: str
    said: dict[str, Any]
    status: str
    origin: str
    created_at: str
    files: tuple[str, ...] = ()


def read_entries(state: dict[str, Any], now: int) -> Iterator[StateEntry]:
    """Yield the entries with a main text, and the key decisions that no decision states. An entry without a time gets
    the current one, and no time is in the future.
    """
    stated: set[str] = set()
    for kind, raw in raw_entries(state):
        main = raw.get(MAIN_FIELDS[kind])
        if isinstance(main, str) and main.strip():
            yield _read_entry(kind, raw, main, now)
            stated |= lines_of(main) if kind == DECISION else set()
    for text in texts_in(state.get("summaries"), "keyDecisions"):
        if one_line(text) not in stated:
            raw = {"rationale": "not recorded", "timestamp": state.get("timestamp")}
            yield _read_entry(DECISION, raw, text, now)


def lines_of(decision: str) -> set[str]:
    """Return the lines that may stand for a decision among the key decisions: whole, and cut as our own files cut
    it.
    """
    line = one_line(decision)
    return {line, cut(line, _KEY_DECISION)}


def texts_in(section: object, name: str) -> list[str]:
    """Return the texts in a list of a section that anybody may have written."""
    texts = section.get(name) if isinstance(section, dict) else None
    return [text for text in texts if isinstance(text, str) and text.strip()] if isinstance(texts, list) else []


def alias_number(alias: object) -> int:
    """Return the number of an alias such as D7; 0 for anything else."""
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
        if (ended := to_milliseconds(raw.get("resolvedAt"))) is not None:
            said["resolvedAt"] = to_text(ended)
    timestamp = to_milliseconds(raw.get("timestamp"))
    return StateEntry(
        kind=kind,
        alias=str(raw.get("id") or ""),
        said=said,
        status=status if status in (_IN_FORCE, _PROPOSED, *SETTLED) else _PROPOSED,
        origin=raw["origin"] if raw.get("origin") in ORIGINS else INFERRED,
        created_at=to_text(now if timestamp is None else min(timestamp, now)),
        files=tuple(texts_in(raw, "files")),
    )


def read_notes(state: dict[str, Any]) -> Iterator[FileNote]:
    """Yield the notes of a state file: its own, and those of its sessions.

    What describes the moment at which a file was written is no memory, and is not read: git, times, sizes.
    """
    records = list(object_in(state, "sessions").values())
    summaries = state.get("summaries")
    for kind, names in ((HIGHLIGHT, ("contextHighlights", "highlights")), (ACTION, ("pendingActions",) * 2)):
        texts = texts_in(summaries, names[0]) + [text for record in records for text in texts_in(record, names[1])]
        yield from (FileNote(kind, cut(text, LONGEST)) for text in dict.fromkeys(texts))
    works = [_work_item(one) for one in (state, *records)]
    flow = [text_in(state.get("workflow"), name) for name in ("currentPhase", "lastHandoff")]
    if flow[0] == works[0].get("phase"):  # our own files repeat that
        flow = flow[1:]
    if told := ", ".join(filter(None, flow)):
        yield FileNote(HIGHLIGHT, cut(f"workflow: {told}", LONGEST))
    said = [dump_json(work) for work in works if work]
    yield from (FileNote(WORK_ITEM, text) for text in dict.fromkeys(said))


def _work_item(holder: object) -> dict[str, Any]:
    """Return the valid fields of the work item of a state or of a session."""
    given = object_in(holder, "workItem")
    texts = {name: text for name in ("id", "title", "goal", "phase") if (text := text_in(given, name))}
    done = given.get("progress")
    is_share = isinstance(done, (int, float)) and not isinstance(done, bool) and 0 <= done <= 1
    return {**texts, "progress": done} if is_share else {**texts}
