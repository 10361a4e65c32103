"""When secrets were masked in what was archived before: of two versions stores keep the one that was masked later."""

from __future__ import annotations

from unified_state.lib.text.timestamps import to_text
from unified_state.memory.history.archive_rows import carried, carry_too
from unified_state.model.history_records import COMPACTION, ITEM, STEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive


def note_masked(archive: Archive, what: str, key: int | str, now: int) -> None:
    """Note that secrets in a record were masked now: in a step or a compaction, by number, or in an item, by UUID. That
    is later than the last time, also where the clock was set back.
    """
    if what == ITEM:
        archive.run("UPDATE item SET changed_at = ? WHERE uuid = ?", to_text(now), key)
    elif what in {STEP, COMPACTION}:
        last = carried(archive, what, int(key)).get("masked_at")
        carry_too(archive, what, int(key), masked_at=now if last is None else max(now, last + 1))
