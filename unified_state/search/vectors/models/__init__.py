"""Models that turn a text into a vector of its meaning.

The static model's table is part of a package. MiniLM's files lie in a folder that the user names. Both are only read:
no code of theirs runs, and nothing is downloaded. Only `unified-state embed` loads
a model, and a search if `search_vectors` is set. No hook does.
"""

from __future__ import annotations

import os
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
def open_model(name: str, folder: str = "") -> Model:
    """Return one of `MODEL_NAMES`, which a process loads once. MiniLM is read from the folder.

    Raises MissingExtraError if its packages are not installed, SettingError if MiniLM has no folder, StorageError if a
    file cannot be read, and DamagedFileError if a file is not the known one.
    """
    try:
        if name == MINILM:
            from unified_state.search.vectors.models.minilm import MiniLm

            return MiniLm(os.path.expanduser(folder))
        from unified_state.search.vectors.models.wordllama_table import StaticModel

        return StaticModel()
    except ImportError as error:
        message = f"search by meaning with the model {name} needs packages that are not installed: {error}"
        raise MissingExtraError(message, extra_line("vectors")) from error
