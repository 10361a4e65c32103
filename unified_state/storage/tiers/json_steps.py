"""The steps of a session as their file holds them: each line begins with its position, a copy names the original."""

from __future__ import annotations

from bisect import bisect_left
from itertools import groupby
from operator import itemgetter

from unified_state.records.history import StoredStep
from unified_state.storage.tiers.json_forms import key_of, readable_fields, record_of
from unified_state.storage.tiers.json_tables import KEYS, Tables, session_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from unified_state.storage.tiers.json_files import LineFiles

_BEGIN = len(b'{"n":')
_COPY, _HEAD = b',"of":[', 40  # what a copy's line has in its first bytes


def place_of(line: bytes) -> int:
    """The position that a line begins with; 0 where the disk has changed it."""
    digits = line[_BEGIN : line.find(b",")]
    return int(digits) if digits.isdigit() else 0


def is_copy(line: bytes) -> bool:
    """Whether a line only names the step that another session had first."""
    return _COPY in line[:_HEAD]


def with_originals(files: LineFiles, lines: list[bytes]) -> list[bytes]:
    """The lines, each copy among them replaced by its original, where that is still there."""
    origins = {line: tuple(fields["of"]) for line in lines if is_copy(line) for fields in readable_fields([line])}
    originals = _original_lines(files, origins.values())
    return [originals.get(origins[line], line) if line in origins else line for line in lines]


def steps_behind(
    files: LineFiles, tables: Tables, session_id: str, number: int, after: int, limit: int
) -> list[tuple[int, StoredStep]]:
    """The steps of a session behind a position, as many as are asked for."""
    lines = files.lines(session_file(number))
    begin = bisect_left(lines, after + 1, key=place_of)
    found: list[tuple[int, StoredStep]] = []
    while begin < len(lines) and len(found) < limit:
        wanted = lines[begin : begin + limit - len(found)]
        begin += len(wanted)
        found += read_steps(files, tables, session_id, wanted)
    return found


def read_steps(
    files: LineFiles, tables: Tables, session_id: str, lines: Iterable[bytes]
) -> list[tuple[int, StoredStep]]:
    """The steps of some lines, but those that were forgotten."""
    parsed = [fields for fields in readable_fields(lines) if "n" in fields]
    originals = _originals(files, [fields["of"] for fields in parsed if "of" in fields])
    found = []
    for fields in parsed:
        place, origin = fields.pop("n"), fields.pop("of", None)
        original = fields if origin is None else originals.get(tuple(origin))
        if original is not None:  # else it was forgotten
            own = {"session_id": session_id, "starts_turn": fields.get("starts_turn", False)}
            step = record_of(StoredStep, {**original, **own})
            if not tables.is_forgotten_step(step, key_of(step.uuid, step.block)):
                found.append((place, step))
    return found


def _originals(files: LineFiles, origins: list[list[int]]) -> dict[tuple[int, ...], dict[str, Any]]:
    """The fields of originals by session and position."""
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    for origin, line in _original_lines(files, map(tuple, origins)).items():
        for fields in readable_fields([line]):
            del fields["n"]
            found[origin] = fields
    return found


def _original_lines(files: LineFiles, origins: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], bytes]:
    """The lines of originals by session and position."""
    found: dict[tuple[int, ...], bytes] = {}
    for owner, places in groupby(sorted(set(origins)), key=itemgetter(0)):
        lines = files.lines(session_file(owner))
        for origin in places:
            index = bisect_left(lines, origin[1], key=place_of)
            if index < len(lines) and place_of(lines[index]) == origin[1]:
                found[origin] = lines[index]
    return found


def find_place(files: LineFiles, place: int) -> str | None:
    """The session of the step at a position; None where there is none."""
    pairs = files.lines(KEYS)
    if not 0 < place <= len(pairs):
        return None
    number = int(pairs[place - 1].rpartition(b" ")[2])
    return list(Tables(files).sessions)[number - 1]
