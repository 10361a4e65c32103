"""Requoting: quotes follow their entries. Where an archived text is masked anew, so are the quotes taken from it, in
the same transaction; where it is forgotten, they go too.
"""

from __future__ import annotations

from unified_state.rules.quoting import quote_hash
from unified_state.storage.provenance import entry_steps, items_of_entry, set_source
from unified_state.storage.steps import find_step, readable, uuid_of_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.records.item import LedgerItem
    from unified_state.services.masking import Masker
    from unified_state.storage.archive import Archive

_CHARACTERS = 500  # of an entry that stand for a quote whose borders are not to be found under the masks


def requote(archive: Archive, uuid: str, masker: Masker) -> None:
    """An entry was masked: its quotes are what stands there now."""
    texts = [
        readable(step) for number in entry_steps(archive, uuid) if (step := find_step(archive, number)) is not None
    ]
    for item in items_of_entry(archive, uuid):
        if item.quote is None or any(item.quote in text for text in texts):
            continue
        masked = masker.text(item.quote)
        stands = any(masked in text for text in texts)
        set_source(archive, quoted(item, masked if stands else texts[0][:_CHARACTERS]))


def drop_quotes(archive: Archive, step: int) -> None:
    """A step is forgotten: the items that came from its entry stay, without its words."""
    for item in items_of_entry(archive, uuid_of_step(archive, step)):
        set_source(archive, item.replace(quote=None, quote_hash=None))


def quoted(item: LedgerItem, quote: str) -> LedgerItem:
    """The item with another quote."""
    return item.replace(quote=quote, quote_hash=quote_hash(quote))
