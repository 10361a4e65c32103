"""Models that turn a text into a vector of its meaning. Each comes in a package that carries its weights, and is read
from there: nothing is ever downloaded.

Only `unified-state embed` and a search where `search_vectors` says so load one; no hook does.
"""

from __future__ import annotations

from functools import cache

from unified_state.errors import MissingExtraError
from unified_state.setting_table import MINILM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Model(Protocol):
        """A model, which gives unit vectors as float16, little endian. Vectors of another name or version must not be
        compared with them.
        """

        name: str
        version: str
        dimensions: int
        trust: float  # what its nearness counts in a search, beside that of the best model

        def encode(self, texts: Sequence[str]) -> list[bytes | None]:
            """The vector of each text, of what fits of a long one; None for a text that holds nothing."""


@cache
def open_model(name: str) -> Model:
    """One of `MODEL_NAMES`, which one process loads once. Raises MissingExtraError where its packages are not
    installed, DamagedFileError where a file of theirs is not as it was installed.
    """
    try:
        if name == MINILM:
            from unified_state.search.vectors.models.minilm import MiniLm

            return MiniLm()
        from unified_state.search.vectors.models.wordllama_table import StaticModel

        return StaticModel()
    except ImportError as error:
        message = f"search by meaning with the model {name} needs packages that are not installed: {error}"
        raise MissingExtraError(message, "pip install 'unified-state[vectors]'") from error
