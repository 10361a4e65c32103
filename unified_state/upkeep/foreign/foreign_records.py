"""Records for what other programs kept: sessions with steps, and proposals that quote them.

Invariant: the same content has the same names each time, so that a second import adds nothing, and a part that was
changed or added since is new.
"""

from __future__ import annotations

from typing import Any

from unified_state.ledger.item_table import PROPOSED
from unified_state.lib.text import cut, one_line, text_hash
from unified_state.lib.times import to_text
from unified_state.model.constraint import INFERRED
from unified_state.model.history_records import StoredItem, StoredSession, StoredStep
from unified_state.model.item import ALIAS_LETTERS, MAIN_FIELDS, OTHER_FIELDS
from unified_state.model.step import NOTICE

MOST_PROPOSALS = 500  # of one list or note: nobody decides on more
_LONGEST_ITEM = 2_000  # characters; the step has the whole


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
