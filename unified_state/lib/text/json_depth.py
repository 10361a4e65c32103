"""How deeply a JSON value that somebody else wrote is nested. Whatever copies, masks or writes a value goes through it
by recursion, and Python ends that: what is nested deeper than anybody means is better not taken in.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 100
_CONTAINERS = (dict, list, tuple)


def is_too_deep(value: object) -> bool:
    """Whether a JSON value is nested deeper than that."""
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(DEEPEST):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, _CONTAINERS)
        ]
    return True
