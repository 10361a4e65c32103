"""Records as lines of JSON, exactly: what is read is what was written, lone surrogates and unknown fields too.

Fields that have their usual value are left out. A field that this version does not know goes into `unknown`.
"""

from __future__ import annotations

from unified_state.interpreter import dump_json, parse_json
from unified_state.records.record import Record
from unified_state.records.step import Step
from unified_state.rules.record_fields import UNKNOWN, checked_record, telling_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeVar

    from unified_state.records.history import StoredSession, StoredStep

    R = TypeVar("R", bound=Record)

_SURROGATES = "surrogatepass"


def line_of(value: Record | dict[str, Any], **more: Any) -> bytes:
    """A line that holds a record, behind what else is to be told of it."""
    fields = {**more, **(telling_fields(value) if isinstance(value, Record) else value)}
    return (dump_json(fields) + "\n").encode("utf-8", _SURROGATES)


def fields_of(line: bytes) -> dict[str, Any]:
    """What a line holds."""
    value: dict[str, Any] = parse_json(line.decode("utf-8", _SURROGATES))
    return value


def readable_fields(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """What lines hold; one that the disk has changed is left out, and `doctor` counts it."""
    for line in lines:
        try:
            fields = fields_of(line)
        except ValueError:
            continue
        if isinstance(fields, dict):
            yield fields


def record_of(kind: type[R], fields: dict[str, Any]) -> R:
    """The record of a line's fields. Raises ValueError where they make none."""
    known = {name: value for name, value in fields.items() if name in kind.disk_names}
    has_room = UNKNOWN in kind.disk_names
    newer = {name: value for name, value in fields.items() if name not in kind.disk_names} if has_room else {}
    return checked_record(kind, known, newer)


def readable_records(kind: type[R], told: Iterable[dict[str, Any]]) -> Iterator[R]:
    """The records of the fields of lines; what makes none is left out, and `doctor` counts it."""
    for fields in told:
        try:
            record = record_of(kind, fields)
        except ValueError:
            continue
        yield record


def masked(fields: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    """The fields of a step, with those that masking changed as they are in a newer version."""
    changed = ("text", "unknown", "masked_at")
    kept = {name: value for name, value in fields.items() if name not in changed}
    return kept | {name: newer[name] for name in changed if name in newer}


def plain(step: StoredStep) -> Step:
    """The step, without whose it is."""
    return Step(**{name: getattr(step, name) for name in Step.names})


def key_of(uuid: str, block: int) -> bytes:
    """What names a step, on a line of its own."""
    return f"{dump_json(uuid)} {block}".encode("utf-8", _SURROGATES)


def key_in(fields: dict[str, Any]) -> bytes | None:
    """What names the step of a line; None where the disk has changed it."""
    match fields:
        case {"uuid": str(uuid), "block": int(block)}:
            return key_of(uuid, block)
    return None


def joined(known: StoredSession, told: StoredSession) -> StoredSession:
    """A session with what was learned last of each field, and its earliest and latest times."""
    fields = known.as_dict()
    fields |= {name: value for name, value in told.as_dict().items() if value is not None}
    for name, choose in (("started_at", min), ("seen_at", max), ("ended_at", max)):
        times = [at for at in (getattr(known, name), getattr(told, name)) if at is not None]
        fields[name] = choose(times, default=None)
    return known.replace(**fields | {"unknown": {**known.unknown, **told.unknown}})
