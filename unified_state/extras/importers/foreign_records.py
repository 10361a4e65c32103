"""What the importers share: times, fields and sections in the texts of other programs, and records for what these kept:
sessions with steps, and proposals that quote them.

Invariant: the same content has the same names each time, so that a second import adds nothing, and a part that was
changed or added since is new.
"""

from __future__ import annotations

import re
from typing import Any

from unified_state.errors import ForeignFileError
from unified_state.ledger.item_table import PROPOSED
from unified_state.lib.foreign_values import clean_text, is_too_deep
from unified_state.lib.json_text import dump_json
from unified_state.lib.text import cut, one_line, text_hash
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.model.constraint import INFERRED
from unified_state.model.history_records import StoredItem, StoredSession, StoredStep
from unified_state.model.item import ALIAS_LETTERS, MAIN_FIELDS, OTHER_FIELDS
from unified_state.model.step import NOTICE

MOST_PROPOSALS = 500  # of one list or note: nobody decides on more
_LONGEST_ITEM = 2_000  # characters; the step has the whole
_MOST_FIELDS = 200  # lines of fields at the top of a note
_FIELD = re.compile(r"\s*(?:- )?([A-Za-z_][\w-]*):[ \t]*(.*)")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T _](\d\d)[:-](\d\d)(?:[:-](\d\d))?(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?")


class Conversation:
    """A session of another program, which names its steps in the order in which they are made.

    A step without a time of its own has that of the step before it.
    """

    def __init__(self, program: str, name: str, started: int = 0) -> None:
        self.program, self.id, self._at = program, f"{program}:{name or 'unknown'}", started
        self._started, self._number = started, 0

    def session(self) -> StoredSession:
        """Return the record of the session."""
        return StoredSession(self.id, started_at=self._started, seen_at=self._started)

    def step(self, kind: str, text: str, at: int = 0, *, name: str = "", block: int = 0, **fields: Any) -> StoredStep:
        """Return a step. Without a `name` of the other program's it is named by its position and its content."""
        self._at = at or self._at
        self._number += 1
        name = name or f"{self.id.removeprefix(f'{self.program}:')}:{self._number}:{text_hash(text)[:16]}"
        return StoredStep(
            session_id=self.id,
            uuid=f"{self.program}:{name}",
            block=block,
            kind=kind,
            at=self._at,
            text=text,
            starts_turn=kind == NOTICE,
            **fields,
        )


def proposal(
    source: StoredStep,
    kind: str,
    text: str,
    key: str,
    body: dict[str, Any],
    *,
    changed: int = 0,
    status: str = PROPOSED,
) -> StoredItem:
    """Return an item that a step states, which waits for the user's decision unless it is settled.

    `key` names it among the items of its program. `body` are further fields of its kind. `changed` is the time of its
    last change in milliseconds, of which the newest counts.
    """
    main = cut(one_line(text), _LONGEST_ITEM)
    at = to_text(max(0, source.at))
    program = source.session_id.partition(":")[0]
    quote = main if main and main in source.text else None
    return StoredItem(
        uuid=stable_uuid(program, kind, key),
        alias=f"{ALIAS_LETTERS[kind]}1",
        kind=kind,
        body={**OTHER_FIELDS[kind], MAIN_FIELDS[kind]: main, **body},
        status=status,
        origin=INFERRED,
        created_at=at,
        changed_at=to_text(changed) if changed > 0 else None,
        paged_out_at=at,
        session_id=source.session_id,
        source_uuid=source.uuid,
        quote=quote,
        quote_hash=text_hash(quote) if quote else None,
    )


def stable_uuid(*names: str) -> str:
    """Return the same UUID for the same names, of version 8 (RFC 9562), whose other bits are free."""
    digits = text_hash("\0".join(names))
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def moment(value: object) -> int:
    """Return the milliseconds of the first time in a text, which is UTC unless it says otherwise; 0 without one."""
    found = _MOMENT.search(value) if isinstance(value, str) else None
    if found is None:
        return 0
    day, hour, minute, second, fraction, zone = found.groups()
    return to_milliseconds(f"{day}T{hour}:{minute}:{second or '00'}{(fraction or '')[:4]}{zone or ''}") or 0


def fields_and_body(text: str) -> tuple[dict[str, str], str]:
    """Return the fields between two lines `---` at the top of a note, also nested ones by their own names, and the
    text behind them.
    """
    lines = text.lstrip().split("\n", _MOST_FIELDS + 1)
    if lines[0].rstrip() != "---":
        return {}, text
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return fields, "\n".join(lines[number + 1 :])
        if found := _FIELD.fullmatch(line):
            fields.setdefault(found[1], _unquoted(found[2].strip()))
    return {}, text


def sections(text: str, mark: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return the parts of a text that begin with a line that `mark` matches: its first group or "", and the part.

    The text before the first such line is a part without a name.
    """
    parts, name, start = [], "", 0
    for found in mark.finditer(text):
        parts.append((name, text[start : found.start()].strip()))
        name, start = found[1] if mark.groups else "", found.start()
    return [part for part in [*parts, (name, text[start:].strip())] if part[1]]


def as_json(value: object) -> str:
    """Return a value as JSON, or "" if it is nested too deep to be written."""
    return "" if is_too_deep(value) else clean_text(dump_json(value))


def text_in(value: object, *names: str) -> str:
    """Return the first text in an object under one of these names, or ""."""
    return next(filter(None, (clean_text(value.get(name)) for name in names)), "") if isinstance(value, dict) else ""


def newer(path: str, version: object) -> ForeignFileError:
    """Return the error for a file of a version that is not known here."""
    message = f"{path} has version {clean_text(str(version))[:40]}, which this version cannot read"
    return ForeignFileError(message, "upgrade unified-state, or report the version of that program")


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace('\\"', '"')
    return value
