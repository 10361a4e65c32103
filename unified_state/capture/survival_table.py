"""The survival table: for each compaction, the verdicts on its summary and the items that the restore repeated.

The table has refs, verdicts and positions in the summary, never words. So `forget` has nothing to remove here.
"""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record
from unified_state.model.known import ItemVerdict, Survival


class SurvivalRow(Record):
    """One row: the verdicts, the repeated items, and the size of their text in tokens."""

    compaction: int
    survival: Survival
    restored: tuple[str, ...] = ()
    tokens: int = 0


def keep_survival(archive: Archive, compaction: int, survival: Survival) -> None:
    """Store the verdicts on a summary. A later summary of the same compaction replaces them."""
    judged = [list(item.as_dict().values()) for item in survival.items]
    archive.run(
        "INSERT INTO survival (compaction, judged) VALUES (?1, ?2) "
        "ON CONFLICT (compaction) DO UPDATE SET judged = ?2, restored = NULL, tokens = NULL",
        compaction,
        dump_json(judged),
    )


def keep_restored(archive: Archive, compaction: int, refs: tuple[str, ...], tokens: int) -> None:
    """Store the items that a restore repeated, and the size of its text in tokens."""
    archive.run(
        "UPDATE survival SET restored = ?, tokens = ? WHERE compaction = ?", dump_json(list(refs)), tokens, compaction
    )


def tell_once(archive: Archive, compaction: int, now: int) -> bool:
    """Return whether the user still has to be informed of this compaction, and record that they were. Later calls
    return False.
    """
    return bool(
        archive.run("UPDATE survival SET told_at = ? WHERE compaction = ? AND told_at IS NULL", now, compaction)
    )


def find_survival(archive: Archive, compaction: int) -> SurvivalRow | None:
    """Return the row of a compaction, or None."""
    row = archive.row(_SELECT + "WHERE compaction = ?", compaction)
    return None if row is None else _survived(row)


def all_survivals(archive: Archive) -> list[SurvivalRow]:
    """Return the rows of all compactions, in order."""
    return [_survived(row) for row in archive.rows(_SELECT + "ORDER BY compaction")]


_SELECT = "SELECT compaction, judged, restored, tokens FROM survival "


def _survived(row: Any) -> SurvivalRow:
    number, judged, restored, tokens = row
    try:
        survival = Survival(tuple(ItemVerdict(*item) for item in parse_json(judged)))
    except (ValueError, TypeError):
        survival = Survival()  # a damaged row counts as empty
    return SurvivalRow(number, survival, tuple(parse_json(restored)) if restored else (), tokens or 0)
