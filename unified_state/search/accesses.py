"""How often and how lately steps were asked for, by `recall` and `search`: it raises them a little in later
searches.
"""

from __future__ import annotations

from unified_state.lib.decay import raised, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from unified_state.memory.archive.archive import Archive

HALF_LIFE = 7 * 86_400_000.0  # milliseconds, the seed's
_PATIENCE = 250  # milliseconds


def note_accesses(archive: Archive, steps: Iterable[int], weight: float, now: int) -> None:
    """Note that steps were asked for, in a transaction of its own. It hardly waits for other writers, nor for the disk:
    losing it loses nothing.
    """
    archive.run(f"PRAGMA busy_timeout = {_PATIENCE}")
    with archive.transaction(durable=False):
        levels = _levels(archive, steps)
        for step in steps:
            level = raised(levels.get(step), weight, now, HALF_LIFE)
            archive.run("INSERT OR REPLACE INTO access VALUES (?, ?)", step, level)


def access_weights(archive: Archive, steps: Iterable[int], now: int) -> dict[int, float]:
    """How much each of those steps was asked for that ever was: above 0, and 1 at most."""
    return {step: min(1.0, score(level, now, HALF_LIFE)) for step, level in _levels(archive, steps).items()}


def _levels(archive: Archive, steps: Iterable[int]) -> dict[int, float]:
    return dict(archive.rows(f"SELECT step, level FROM access WHERE step IN ({', '.join(map(str, steps))})"))
