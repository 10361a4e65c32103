"""Steps that are archived where a tool call waits, so that their texts come into the full-text index later: with
whatever is archived or searched next.

Invariant: a step stands in the index or among these, never in both; both change in one transaction.
"""

from __future__ import annotations

from unified_state.memory.archive.steps import DATA_URL, find_step, searchable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.memory.archive.archive import Archive


def index_later(archive: Archive, number: int) -> None:
    """Leave the text of a new step to the next who has time for it."""
    archive.run("INSERT INTO unindexed VALUES (?)", number)


def is_any_unindexed(archive: Archive) -> bool:
    """Whether the text of any step is missing in the index."""
    return archive.row("SELECT 1 FROM unindexed LIMIT 1") is not None


def index_left(archive: Archive, most: int = -1) -> None:
    """Bring into the index whatever was left to be done, or so many of the newest steps. Call it in a transaction."""
    newest = "SELECT step FROM (SELECT step FROM unindexed ORDER BY step DESC LIMIT ?) ORDER BY step"
    for (number,) in archive.rows(newest, most):
        step = find_step(archive, number)
        if step is not None and not step.text.startswith(DATA_URL):
            archive.run("INSERT INTO step_text (rowid, text) VALUES (?, ?)", number, searchable(step))
        archive.run("DELETE FROM unindexed WHERE step = ?", number)


def was_unindexed(run: Callable[..., Any], number: int) -> bool:
    """Whether the text of a step was missing in the index; it need not be brought there any more."""
    return bool(run("DELETE FROM unindexed WHERE step = ?", (number,)).rowcount)
