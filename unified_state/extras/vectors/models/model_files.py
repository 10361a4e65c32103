"""Files of the model, in a folder that the user names.

A file that differs from the known one is refused, because a model with a damaged weight gives no error, only wrong
vectors.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from unified_state.errors import DamagedFileError, StorageError
from unified_state.lib.read_files import read_regular
from unified_state.lib.text import well_formed
from unified_state.model.step import EMBEDDED_CHARACTERS

if TYPE_CHECKING:
    from numpy.typing import NDArray


FOLDER_HELP = "docs/extras/search-by-meaning.md tells which files it needs and where to get them"
_LARGEST = 64 << 20  # bytes of a file: twice those of the largest known one
_DIGITS = 12  # of the digest in a version's name
_TOLD = 200  # of another library's message


class FolderFile:
    """A file of the user's folder: its path, its content, and the digest of that.

    Raises StorageError if it cannot be read, and DamagedFileError if its digest is none of the known ones.
    """

    def __init__(self, folder: str, name: str, known: Collection[str]) -> None:
        self.path = os.path.join(folder, name)
        try:
            self.content = read_regular(self.path, _LARGEST)
        except OSError as error:
            message = f"{self.path} cannot be read: {error.strerror}"
            raise StorageError(message, FOLDER_HELP) from error
        found = hashlib.sha256(self.content)
        self.digest = found.digest()
        if found.hexdigest() not in known:
            message = f"{self.path} is not a known file of the model: its SHA-256 is {found.hexdigest()}"
            raise DamagedFileError(message, FOLDER_HELP)


def unusable(path: str, problem: object) -> DamagedFileError:
    """Return the error for a file that is as expected and still unusable, for instance with another version of a
    package.
    """
    told = " ".join(str(problem).split())[:_TOLD]
    return DamagedFileError(f"{path} is no model that can be used here: {told}", FOLDER_HELP)


def read_tokenizer(file: FolderFile) -> Any:
    """Return the tokenizer of a file. Raises DamagedFileError."""
    try:
        return Tokenizer.from_buffer(file.content)
    except Exception as error:  # the library raises no specific class
        raise unusable(file.path, error) from error


def version_of(*files: FolderFile) -> str:
    """Return a name for the files' content, which changes with the content."""
    return hashlib.sha256(b"".join(file.digest for file in files)).hexdigest()[:_DIGITS]


def pack_unit(vector: NDArray[np.float32]) -> bytes | None:
    """Return the vector at unit length, packed, or None if it has no direction."""
    length = np.linalg.norm(vector)
    if not np.isfinite(length) or length == 0:
        return None
    return (vector / length).astype("<f2").tobytes()


def begin_of(text: str) -> str:
    """Return the part at the beginning of a text that a model reads, in well-formed characters."""
    return well_formed(text[:EMBEDDED_CHARACTERS])
