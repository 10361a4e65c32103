"""Makes ready what an archive stores of steps, as far as that needs no archive: blocks, long texts, words of the index.

It is used for steps that a second process reads.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.memory.archive.blocks.write_blocks import BlockMaker
from unified_state.memory.archive.steps import DATA_URL, NEWEST, searchable
from unified_state.model.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Ready(Record):
    """What is ready of some steps: the blocks by their texts, and of each step its packed text, if it is long, and its
    words.
    """

    blocks: dict[tuple[str, ...], bytes]
    steps: list[tuple[str | bytes, str | None]]

    def of(self, place: int) -> tuple[str | bytes, str | None]:
        """Return the packed text and the words of the step at a place."""
        return self.steps[place]


def make_ready(prepared: Iterable[tuple[object, object]]) -> Ready:
    """Return what is ready of the steps among some records."""
    maker, steps = BlockMaker(), list[tuple[str | bytes, str | None]]()
    for found, _ in prepared:
        if not isinstance(found, Step):
            steps.append(("", None))
            continue
        body = maker.put(0, found.text)
        words = None if found.text.startswith(DATA_URL) else searchable(found, NEWEST)
        steps.append(("" if isinstance(body, int) else body, words))
    maker.flush()
    return Ready(maker.made, steps)
