"""The full-text index of steps, in the table `step_words`: which words a step has, not where and how often.

The index has no content of its own: what was indexed is deleted as it was inserted.
"""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.archive.steps import DATA_URL, searchable
from unified_state.lib.text import UNREADABLE
from unified_state.model.step import Step


def empty_index(archive: Archive) -> None:
    """Delete all of the index."""
    archive.run("INSERT INTO step_words (step_words) VALUES ('delete-all')")


def take_from_index(archive: Archive, number: int, step: Step) -> None:
    """Delete a step from the index. The index has no content of its own, and deleting a missing row corrupts it.

    The words of a damaged text are unknown. So all others are indexed anew, and the next search waits for that.
    """
    if _was_unindexed(archive, number) or step.text.startswith(DATA_URL):
        return
    if step.text == UNREADABLE:
        empty_index(archive)
        archive.run("INSERT OR IGNORE INTO unindexed SELECT id FROM step WHERE kind NOT NULL AND id != ?", number)
    else:
        delete = "INSERT INTO step_words (step_words, rowid, text) VALUES ('delete', ?, ?)"
        archive.run(delete, number, searchable(step))


def index_later(archive: Archive, number: int) -> None:
    """Queue a new step for the full-text index."""
    archive.run("INSERT INTO unindexed VALUES (?)", number)


def is_any_unindexed(archive: Archive) -> bool:
    """Return whether the index lacks the text of any step."""
    return archive.row("SELECT 1 FROM unindexed LIMIT 1") is not None


def _was_unindexed(archive: Archive, number: int) -> bool:
    """Remove a step from the queue, and return whether the index lacked its text."""
    return archive.run("DELETE FROM unindexed WHERE step = ?", number) > 0
