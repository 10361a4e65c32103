"""The model that turns a text into a vector of its meaning.

MiniLM's files lie in a folder that the user names. They are only read: no code of theirs runs, and nothing is
downloaded. Only `unified-state embed` loads the model, and a search if `search_vectors` is set. No hook does.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from unified_state.errors import MissingExtraError
from unified_state.lib.package import extra_line

if TYPE_CHECKING:
    from unified_state.extras.vectors.minilm import MiniLm


@cache
def open_model(folder: str) -> MiniLm:
    """Return MiniLM from its folder. A process loads it once.

    Raises MissingExtraError if its packages are not installed, SettingError if it has no folder, StorageError if a
    file cannot be read, and DamagedFileError if a file is not the known one.
    """
    try:
        from unified_state.extras.vectors.minilm import MiniLm

        return MiniLm(os.path.expanduser(folder))
    except ImportError as error:
        message = f"search by meaning needs packages that are not installed: {error}"
        raise MissingExtraError(message, extra_line("vectors")) from error
