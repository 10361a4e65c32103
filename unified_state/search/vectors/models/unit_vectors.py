"""From numbers to a vector as it is stored: of unit length, float16, little endian."""

from __future__ import annotations

import numpy as np

from unified_state.lib.text.compress import well_formed
from unified_state.search.rules.fusion import LOOKED_AT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray


def pack_unit(vector: NDArray[np.float32]) -> bytes | None:
    """The vector of unit length; None for one without a direction."""
    length = np.linalg.norm(vector)
    if not np.isfinite(length) or length == 0:
        return None
    return (vector / length).astype("<f2").tobytes()


def begin_of(text: str) -> str:
    """As much of a text as is ever looked at, in characters that can be read."""
    return well_formed(text[:LOOKED_AT])
