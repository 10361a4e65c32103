"""Models that turn a text into a vector of its meaning.

Each model's weights are part of a package and read from there. Nothing is downloaded. Only `unified-state embed` loads
a model, and a search if `search_vectors` is set. No hook does.
"""

from __future__ import annotations

from functools import cache

from unified_state.errors import MissingExtraError
from unified_state.lib.package import extra_line
from unified_state.setting_table import MINILM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Model(Protocol):
        """A model that returns unit vectors as little-endian float16. Vectors of different names or versions are not
        comparable.
        """

        name: str
        version: str
        dimensions: int
        trust: float  # weight of its nearness in a search, relative to the best model

        def encode(self, texts: Sequence[str]) -> list[bytes | None]:
            """Return the vector of each text, cut to the model's length, or None for a text without content."""


@cache
def open_model(name: str) -> Model:
    """Return one of `MODEL_NAMES`, which a process loads once.

    Raises MissingExtraError if its packages are not installed, and DamagedFileError if one of their files is not as
    installed.
    """
    try:
        if name == MINILM:
            from unified_state.search.vectors.models.minilm import MiniLm

            return MiniLm()
        from unified_state.search.vectors.models.wordllama_table import StaticModel

        return StaticModel()
    except ImportError as error:
        message = f"search by meaning with the model {name} needs packages that are not installed: {error}"
        raise MissingExtraError(message, extra_line("vectors")) from error
