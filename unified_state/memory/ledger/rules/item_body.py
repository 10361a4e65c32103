"""The body of an item: its fields as JSON, which the disk may have changed."""

from __future__ import annotations

from unified_state.lib.stdlib import parse_json
from unified_state.lib.text import UNREADABLE
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, EVIDENCE, MAIN_FIELDS, QUESTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNREADABLE_BODIES: dict[str, dict[str, Any]] = {
    DECISION: {"decision": UNREADABLE, "rationale": "", "reversible": True},
    CONSTRAINT: {"constraint": UNREADABLE, "source": "", "blocking": False},
    QUESTION: {"question": UNREADABLE, "context": "", "priority": "medium"},
    EVIDENCE: {"type": "observation", "content": UNREADABLE, "source": ""},
    ATTEMPT: {"attempt": UNREADABLE, "outcome": ""},
}


def read_body(kind: str, text: str) -> dict[str, Any]:
    """The body of an item of that kind; one that says so where the disk has changed it."""
    unreadable = _UNREADABLE_BODIES[kind]
    try:
        body = {**parse_json(text)}
    except (ValueError, TypeError):
        return unreadable
    return body if {MAIN_FIELDS[kind], "type"} & unreadable.keys() <= body.keys() else unreadable | body
