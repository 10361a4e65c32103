"""How deeply a JSON value that somebody else wrote is nested. Whatever copies, masks or writes a value goes through it
by recursion, and Python ends that: what is nested deeper than anybody means is better not taken in.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 100


def is_too_deep(value: object) -> bool:
    """Whether a JSON value is nested deeper than that."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, (dict, list, tuple))]
        if not level:
            return False
    return True


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
