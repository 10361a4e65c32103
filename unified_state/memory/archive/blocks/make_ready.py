"""Makes ready what an archive stores of steps, as far as that needs no archive: blocks, and the words of the index.

It is used for steps that a second process reads.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.memory.archive.blocks.write_blocks import BlockMaker
from unified_state.memory.archive.steps import DATA_URL, searchable
from unified_state.model.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Ready(Record):
    """What is ready of some records: the blocks by their texts, and of each step its words in the index."""

    blocks: dict[tuple[str, ...], bytes]
    words: list[str | None]


def make_ready(prepared: Iterable[tuple[object, object]]) -> Ready:
    """Return what is ready of some records."""
    maker, words = BlockMaker(), list[str | None]()
    for found, _ in prepared:
        if isinstance(found, Step):
            maker.put(0, found.text)
            words.append(None if found.text.startswith(DATA_URL) else searchable(found))
        else:
            words.append(None)
    maker.flush()
    return Ready(maker.made, words)
