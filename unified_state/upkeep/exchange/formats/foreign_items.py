"""Items that another program recorded: known again by what they say, and never in force by themselves."""

from __future__ import annotations

from hashlib import sha256

from unified_state.lib.text.quotes import text_hash
from unified_state.model.history_records import StoredItem
from unified_state.model.item import MAIN_FIELDS
from unified_state.model.origin import INFERRED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PROPOSED = "proposed"
_SEPARATOR = "\0"


def foreign_item(
    program: str,
    kind: str,
    body: dict[str, Any],
    alias: str,
    created_at: str,
    *,
    timestamp: int | None,
    status: str = _PROPOSED,
) -> StoredItem:
    """An item of another program. It is paged out: the state file is for what is recorded here. `timestamp` is what the
    file itself tells; when the file was written is another time in each copy of it.
    """
    main = str(body[MAIN_FIELDS[kind]])
    return StoredItem(
        uuid=_uuid(program, kind, alias, str(timestamp), main),
        alias=alias,
        kind=kind,
        body=body,
        status=status,
        origin=INFERRED,
        created_at=created_at,
        paged_out_at=created_at,
        quote=main,
        quote_hash=text_hash(main),
    )


def _uuid(*names: str) -> str:
    """The same UUID for the same names, of version 8 (RFC 9562), whose bits are its maker's own."""
    digits = sha256(_SEPARATOR.join(names).encode("utf-8", "surrogatepass")).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"
