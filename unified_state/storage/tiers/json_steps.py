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
    from collections.abc import Iterable, Iterator
    from typing import Any

    from unified_state.storage.tiers.json_files import LineFiles

    Origin = tuple[int, int]

_PLACE, _BEGIN = "n", len(b'{"n":')
COPY, _HEAD = b',"of":[', 40  # what a copy's line has in its first bytes
_AT_ONCE = 2_000  # steps of a turn that are read at once


def place_of(line: bytes) -> int:
    """The position that a line begins with; 0 where the disk has changed it."""
    digits = line[_BEGIN : line.find(b",")]
    return int(digits) if digits.isdigit() else 0


def first_at(lines: list[bytes], place: int) -> int:
    """The index of the first line that has this position or one behind it."""

    def known(line: bytes) -> int:
        if found := place_of(line):
            return found
        raise ValueError

    try:
        return bisect_left(lines, place, key=known)
    except ValueError:  # what the disk has changed tells no direction
        return next((index for index, line in enumerate(lines) if place_of(line) >= place), len(lines))


def is_copy(line: bytes) -> bool:
    """Whether a line only names the step that another session had first."""
    return COPY in line[:_HEAD]


def with_originals(files: LineFiles, lines: list[bytes]) -> list[bytes]:
    """The lines, each copy among them replaced by its original, where that is still there."""
    copies = {line: fields for line in lines if is_copy(line) for fields in readable_fields([line])}
    origins = {line: origin for line, fields in copies.items() if (origin := _origin_of(fields))}
    originals = _original_lines(files, origins.values())
    return [originals.get(origins[line], line) if line in origins else line for line in lines]


def steps_behind(
    files: LineFiles, tables: Tables, session_id: str, number: int, after: int, limit: int
) -> list[tuple[int, StoredStep]]:
    """The steps of a session behind a position, as many as are asked for."""
    lines = files.lines(session_file(number))
    begin = first_at(lines, after + 1)
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
    parsed = list(readable_fields(lines))
    originals = read_originals(files, [origin for fields in parsed if (origin := _origin_of(fields))])
    found = []
    for fields in parsed:
        origin, place = _origin_of(fields), fields.get(_PLACE)
        told = tables.as_masked(originals.get(origin, {}) if origin else fields)
        step = _step_of(told, session_id, fields.get("starts_turn", False))
        if step is None or not isinstance(place, int):
            continue
        if not tables.is_forgotten_step(step, key_of(step.uuid, step.block)):
            found.append((place, step))
    return found


def _step_of(fields: dict[str, Any], session_id: str, starts_turn: object) -> StoredStep | None:
    """The step of a line, as a session has it; None where the disk has changed it, or its original was forgotten."""
    known = {name: value for name, value in fields.items() if name != _PLACE}
    try:
        return record_of(StoredStep, {**known, "session_id": session_id, "starts_turn": starts_turn})
    except ValueError:
        return None


def _origin_of(fields: dict[str, Any]) -> Origin | None:
    """Session and position of the original of a copy."""
    match fields.get("of"):
        case [int(owner), int(place)]:
            return owner, place
    return None


def read_originals(files: LineFiles, origins: list[Origin]) -> dict[Origin, dict[str, Any]]:
    """The fields of originals by session and position."""
    return {
        origin: fields for origin, line in _original_lines(files, origins).items() for fields in readable_fields([line])
    }


def _original_lines(files: LineFiles, origins: Iterable[Origin]) -> dict[Origin, bytes]:
    """The lines of originals by session and position."""
    found: dict[Origin, bytes] = {}
    for owner, places in groupby(sorted(set(origins)), key=itemgetter(0)):
        lines = files.lines(session_file(owner))
        for origin in places:
            index = first_at(lines, origin[1])
            if index < len(lines) and place_of(lines[index]) == origin[1]:
                found[origin] = lines[index]
    return found


def steps_of_turn(files: LineFiles, tables: Tables, number: int, first: int) -> Iterator[tuple[int, StoredStep]]:
    """The steps of the turn that begins with a step of a session; none where that is gone."""
    behind, agent = first - 1, None
    while page := steps_behind(files, tables, tables.names[number], number, behind, _AT_ONCE):
        for place, step in page:
            if behind < first:
                behind, agent = place, step.agent
                if place != first:  # it is gone, and the ref names nothing any more
                    return
            elif step.agent == agent and step.starts_turn:
                return
            if step.agent == agent:
                yield place, step
        behind = page[-1][0]


def find_place(files: LineFiles, tables: Tables, place: int) -> int | None:
    """The number of the session of the step at a position; None where there is none."""
    _, _, number = _pair_at(files, place).rpartition(b" ")
    return int(number) if number.isdigit() and int(number) in tables.names else None


def is_gone(files: LineFiles, place: int) -> bool:
    """Whether there was a step at a position, which was pruned or forgotten."""
    return _pair_at(files, place).rpartition(b" ")[0] in Tables(files).gone


def _pair_at(files: LineFiles, place: int) -> bytes:
    pairs = files.lines(KEYS)
    return pairs[place - 1] if 0 < place <= len(pairs) else b""
