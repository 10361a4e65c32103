"""Queues of archived steps: those to derive facts from, and those to index, by a later process."""

from __future__ import annotations

from unified_state.memory.archive.steps import DATA_URL, find_step, searchable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from unified_state.memory.archive.archive import Archive


def postpone(archive: Archive, session: int, step: int) -> None:
    """Leave a step of a session for later."""
    archive.run("INSERT OR IGNORE INTO unnoted VALUES (?, ?)", session, step)


def first_unnoted(archive: Archive, session: int, limit: int) -> list[int]:
    """The oldest of those steps."""
    rows = archive.rows("SELECT step FROM unnoted WHERE session = ? ORDER BY step LIMIT ?", session, limit)
    return [step for (step,) in rows]


def mark_noted(archive: Archive, session: int, steps: Iterable[int]) -> None:
    """Those steps are noted now."""
    for step in steps:
        archive.run("DELETE FROM unnoted WHERE session = ? AND step = ?", session, step)


def all_unnoted(archive: Archive, session: int) -> list[int]:
    """All of them."""
    return [step for (step,) in archive.rows("SELECT step FROM unnoted WHERE session = ?", session)]


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
