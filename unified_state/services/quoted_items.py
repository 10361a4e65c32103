"""Items that a model records and may quote the user for: the quote is checked, and the item is whose word it is."""

from __future__ import annotations

from unified_state.records.item import MAIN_FIELDS
from unified_state.services.clock import current_time
from unified_state.services.state_writing import StateWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.records.item import Entry
    from unified_state.services.workspace import Workspace


def record_quoted(
    workspace: Workspace, kind: str, body: dict[str, Any], quote: str | None, *, supersedes: str | None = None
) -> Entry:
    """Record an item; it is `user_said` where the user said the quote and that says the item. Where not, the
    workspace's `advise` is told why.
    """
    source = None
    if quote is not None:
        from unified_state.services.user_words import check_quote  # reads transcripts; most items quote nobody

        checked = check_quote(workspace, quote, str(body[MAIN_FIELDS[kind]]), current_time())
        source = checked.source
        if checked.problem is not None:
            workspace.advise(checked.problem)
    return StateWriter(workspace).add(kind, body, supersedes=supersedes, source=source)
