"""What a rule of capture found in the steps of a session, before it enters the ledger."""

from __future__ import annotations

from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Fact(Record):
    """One fact for the ledger. `rule` names the rule that found it, `body` holds the fields of its kind, `quote` the
    words of the step, as archived, that say it; `quote` is always a part of that step's text. `replaces` is the subject
    that no two facts of one session and rule are true of at once: the newer one supersedes the older.
    """

    rule: str
    kind: str
    origin: str
    status: str
    body: dict[str, Any]
    quote: str
    files: tuple[str, ...] = ()
    replaces: str = ""


class Todo(Record):
    """One entry of the agent's list of what is to be done: its number or id there, its words, its state (`pending`,
    `in_progress`, `completed`, `deleted`); None where it stays as it was.
    """

    key: str
    text: str | None
    state: str | None
