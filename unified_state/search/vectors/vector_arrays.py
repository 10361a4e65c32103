"""Stored vectors as numpy's matrices."""

from __future__ import annotations

import os

from unified_state.errors import MissingExtraError, UsageError

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    problem = f"a search by meaning needs numpy, which cannot be loaded: {error}"
    raise MissingExtraError(problem, "pip install 'unified-state[vectors]'") from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

Numbers = NDArray[np.float32]


def matrix(embeddings: Sequence[bytes], dimensions: int) -> Numbers:
    """Stored vectors, one a row."""
    return np.frombuffer(b"".join(embeddings), "<f2").reshape(-1, dimensions).astype(np.float32)


def products(vectors: Numbers, query: Numbers) -> Numbers:
    """The product of each vector with a query's. On one thread, unlike numpy's `@`: an agent works on the others."""
    found: Numbers = np.einsum("ij,j->i", vectors, query)
    return found


def unit(vector: Sequence[float] | Numbers, dimensions: int) -> Numbers:
    """A query's vector at unit length. Raises UsageError where it is none, or of another model."""
    numbers = np.asarray(vector, np.float32)
    if numbers.shape != (dimensions,):
        message = f"the query's vector has the shape {numbers.shape}, not {(dimensions,)}"
        raise UsageError(message, "make it with the model of the vectors that it is compared with")
    length = float(np.linalg.norm(numbers))
    if not 0 < length < float("inf"):  # NaN is neither
        message = f"the query's vector has the length {length:g}"
        raise UsageError(message, "a text without any meaning has no nearest ones")
    return numbers / length


def identity(path: str) -> tuple[int, ...]:
    """What tells a file from any other that had or gets its name."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size
