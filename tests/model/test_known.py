from __future__ import annotations

from unified_state.model.hook_event import PARTS
from unified_state.model.known import Composition, Known


def test_a_composition_has_a_text_for_each_part() -> None:
    assert Composition().as_dict() == dict.fromkeys(PARTS, "")


def test_nothing_is_known_unless_it_is_said() -> None:
    known = Known(reason="startup", now=0)
    assert (known.items, known.turns, known.git, known.work_item, known.summary) == ((), (), None, None, None)
