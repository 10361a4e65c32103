"""Survival in the archive: of each compaction, what its summary kept, what was told again, and what the user was told.

It holds refs, verdicts and places in the summary, never words: what is forgotten leaves nothing here.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.model.known import Judged, Named, Survival

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive


class Survived(Record):
    """What is kept of one compaction: the judgement, the items told again with the size of that text in tokens."""

    compaction: int
    survival: Survival
    restored: tuple[str, ...] = ()
    tokens: int = 0


def keep_survival(archive: Archive, compaction: int, survival: Survival) -> None:
    """Keep what a summary kept; a later summary of the same compaction is judged anew."""
    judged = {
        "items": [list(item.as_dict().values()) for item in survival.items],
        "workingSet": [list(named.as_dict().values()) for named in survival.working_set],
    }
    archive.run(
        "INSERT INTO survival (compaction, judged) VALUES (?1, ?2) "
        "ON CONFLICT (compaction) DO UPDATE SET judged = ?2, restored = NULL, tokens = NULL",
        compaction,
        dump_json(judged),
    )


def keep_restored(archive: Archive, compaction: int, refs: tuple[str, ...], tokens: int) -> None:
    """Keep which items were told again, in a text of so many tokens."""
    archive.run(
        "UPDATE survival SET restored = ?, tokens = ? WHERE compaction = ?", dump_json(list(refs)), tokens, compaction
    )


def tell_once(archive: Archive, compaction: int, now: int) -> bool:
    """Whether the user has not been told of this compaction yet, which is noted now."""
    return bool(
        archive.run("UPDATE survival SET told_at = ? WHERE compaction = ? AND told_at IS NULL", now, compaction)
    )


def find_survival(archive: Archive, compaction: int) -> Survived | None:
    """What is kept of a compaction, or None."""
    row = archive.row(_SELECT + "WHERE compaction = ?", compaction)
    return None if row is None else _survived(row)


def all_survivals(archive: Archive) -> list[Survived]:
    """What is kept of all compactions, in order."""
    return [_survived(row) for row in archive.rows(_SELECT + "ORDER BY compaction")]


_SELECT = "SELECT compaction, judged, restored, tokens FROM survival "


def _survived(row: Any) -> Survived:
    number, judged, restored, tokens = row
    try:
        found = parse_json(judged)
        survival = Survival(
            tuple(Judged(*item) for item in found["items"]), tuple(Named(*named) for named in found["workingSet"])
        )
    except (ValueError, TypeError, KeyError):
        survival = Survival()  # damaged on the disk: then nothing is known to be kept
    return Survived(number, survival, tuple(parse_json(restored)) if restored else (), tokens or 0)
