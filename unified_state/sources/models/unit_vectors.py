"""From numbers to a vector as it is stored: of unit length, float16, little endian."""

from __future__ import annotations

import numpy as np

from unified_state.rules.packing import well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST_TOKEN = 12  # characters a token, on average: more than prose or code ever has


def pack_unit(vector: NDArray[np.float32]) -> bytes | None:
    """The vector of unit length; None for one without a direction."""
    length = np.linalg.norm(vector)
    if not np.isfinite(length) or length == 0:
        return None
    return (vector / length).astype("<f2").tobytes()


def begin_of(text: str, tokens: int) -> str:
    """As much of a text as surely holds so many tokens, in characters that can be read: of a megabyte only the begin
    is ever looked at.
    """
    return well_formed(text[: tokens * _LONGEST_TOKEN])
