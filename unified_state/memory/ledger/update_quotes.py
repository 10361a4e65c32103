"""Requoting: quotes follow their entries. Where an archived text is masked anew, so are the quotes taken from it, in
the same transaction.
"""

from __future__ import annotations

from unified_state.lib.text.quotes import text_hash
from unified_state.memory.archive.steps import find_step, readable
from unified_state.memory.ledger.source_table import entry_steps, items_of_entry, items_of_summary, set_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.secrets.masker import Masker
    from unified_state.model.item import LedgerItem

_CHARACTERS = 500  # of an entry that stand for a quote whose borders are not to be found under the masks


def requote(archive: Archive, uuid: str, masker: Masker) -> None:
    """An entry was masked: its quotes are what stands there now."""
    steps = [find_step(archive, number) for number in entry_steps(archive, uuid)]
    _requote(archive, items_of_entry(archive, uuid), [readable(step) for step in steps if step is not None], masker)


def requote_summary(archive: Archive, compaction: int, summary: str, masker: Masker) -> None:
    """A summary was masked: the quotes that were taken from it are what stands there now."""
    _requote(archive, items_of_summary(archive, compaction), [summary], masker)


def _requote(archive: Archive, items: Iterable[LedgerItem], texts: Sequence[str], masker: Masker) -> None:
    for item in items:
        if item.quote is None or any(item.quote in text for text in texts):
            continue
        masked = masker.text(item.quote)
        stands = any(masked in text for text in texts)
        set_source(archive, quoted(item, masked if stands else texts[0][:_CHARACTERS]))


def quoted(item: LedgerItem, quote: str) -> LedgerItem:
    """The item with another quote."""
    return item.replace(quote=quote, quote_hash=text_hash(quote))
