"""Paging out: when the state file grows over its budget, items leave it; the ledger keeps them, `recall` finds them.

Counting tokens exactly takes a moment (tiktoken has to load), so it is done only when a proved upper bound says that
the file could be too large; a count is kept with its item and made once.
"""

from __future__ import annotations

from unified_state.lib.record import disk_value
from unified_state.lib.stdlib import dump_json
from unified_state.lib.times import to_text
from unified_state.lib.tokens import upper_bound
from unified_state.memory.ledger.item_table import note_place
from unified_state.memory.ledger.rules.short_item import short_form
from unified_state.memory.state_file.calibration_table import token_scale
from unified_state.memory.state_file.rules.state_budget import leaving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem
    from unified_state.settings import Settings

    Counter = Callable[[Sequence[str]], list[int]]

_CHARACTERS_PER_TOKEN = 3.2  # of compact JSON in o200k, for sizes that nobody has counted yet


def page_out(
    archive: Archive, items: list[LedgerItem], settings: Settings, count_tokens: Counter, now: int
) -> list[LedgerItem]:
    """The items that stay in the file; those that leave are marked so in the ledger."""
    scale = token_scale(archive)
    if sum(map(_at_most, items)) * scale <= settings.budget_max:
        return items
    items = _counted(archive, items, count_tokens)
    sizes = {item.uuid: round((item.estimate or 0) * scale) for item in items}
    target = max(settings.budget_target, settings.budget_min)
    gone = leaving(items, sizes, sum(sizes.values()), target, settings.budget_max)
    with archive.transaction():
        for item in gone:
            note_place(archive, item.replace(paged_out_at=to_text(now)))
    left = {item.uuid for item in gone}
    return [item for item in items if item.uuid not in left]


def estimated_tokens(archive: Archive, items: list[LedgerItem]) -> int:
    """The size of items in the state file in tokens of the client's model: as counted, else a good guess."""
    return round(sum(map(_estimate, items)) * token_scale(archive))


def _counted(archive: Archive, items: list[LedgerItem], count_tokens: Counter) -> list[LedgerItem]:
    unknown = [item for item in items if item.estimate is None]
    counts = count_tokens([_entry(item) for item in unknown])
    sized = {item.uuid: item.replace(estimate=count) for item, count in zip(unknown, counts, strict=True)}
    with archive.transaction():
        for item in sized.values():
            note_place(archive, item)
    return [sized.get(item.uuid, item) for item in items]


def _at_most(item: LedgerItem) -> int:
    return upper_bound(_entry(item)) if item.estimate is None else item.estimate


def _estimate(item: LedgerItem) -> float:
    return len(_entry(item)) / _CHARACTERS_PER_TOKEN if item.estimate is None else item.estimate


def _entry(item: LedgerItem) -> str:
    return dump_json(disk_value(short_form(item))) + ","
