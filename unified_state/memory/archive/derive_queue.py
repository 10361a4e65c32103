"""The steps that were archived and not noted yet (see `capture.derive`), by session."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
