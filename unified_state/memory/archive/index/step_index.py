"""The full-text index of steps: the words that it has of each, and which of its two tables has them.

`step_words` has each word of a step once, without places and frequencies: a third of the size of `step_text`, the table
of older steps. An older step stays there until its index is renewed. What was indexed is deleted as it was inserted.
"""

from __future__ import annotations

from unified_state.lib.text import UNREADABLE
from unified_state.memory.archive.steps import (
    DATA_URL,
    FIRST_NEWEST,
    NEWER,
    OLDER,
    first_steps,
    form_of,
    searchable,
    table_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.step import Step

_SMALLEST_LONG = 0x80


def tables(archive: Archive) -> tuple[str, ...]:
    """Return the tables that have steps, that of the newer ones first."""
    first = first_of_newest(archive)
    if first is None:
        return (OLDER,)
    return (NEWER,) if first <= 1 else (NEWER, OLDER)


def index_form(archive: Archive, number: int) -> int:
    """Return the form in which a step is indexed."""
    return form_of(first_steps(archive), number)


def first_of_newest(archive: Archive) -> int | None:
    """Return the first step in the newest form; None if no step was archived since there is this form."""
    return first_steps(archive).get(FIRST_NEWEST)


def begin_newest_at(archive: Archive, number: int) -> None:
    """Note the first step in the newest form. Call it in the transaction that indexed the steps from there."""
    archive.set_meta(FIRST_NEWEST, str(number))


def empty_index(archive: Archive) -> None:
    """Delete all of the index. Steps that are indexed from now on have the newest form."""
    for table in (OLDER, NEWER):
        archive.run(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
    begin_newest_at(archive, 1)


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
        form = index_form(archive, number)
        table = table_of(form)
        delete = f"INSERT INTO {table} ({table}, rowid, text) VALUES ('delete', ?, ?)"
        archive.run(delete, number, searchable(step, form))


def index_later(archive: Archive, number: int) -> None:
    """Queue a new step for the full-text index."""
    archive.run("INSERT INTO unindexed VALUES (?)", number)


def is_any_unindexed(archive: Archive) -> bool:
    """Return whether the index lacks the text of any step."""
    return archive.row("SELECT 1 FROM unindexed LIMIT 1") is not None


def _was_unindexed(archive: Archive, number: int) -> bool:
    """Remove a step from the queue, and return whether the index lacked its text."""
    return archive.run("DELETE FROM unindexed WHERE step = ?", number) > 0


def numbers_of(block: bytes) -> Iterator[int]:
    """Yield the numbers of a record of FTS5: seven bits a byte, the highest first, and a high bit but in the last."""
    number = 0
    for byte in block:
        number = number << 7 | byte & (_SMALLEST_LONG - 1)
        if byte < _SMALLEST_LONG:
            yield number
            number = 0
