"""WordLlama's table of vectors with 256 dimensions: the vector of a text is the mean of its tokens' rows.

It is two hundred times as fast as a transformer, and less accurate. The table and its tokenizer are read from the files
in the package. The package's code is not imported, because it sets up logging, uses the network, and takes a second.
"""

from __future__ import annotations

import json

import numpy as np

from unified_state.lib.stdlib import open_regular
from unified_state.search.vectors.models.model_files import (
    PackageFile,
    begin_of,
    pack_unit,
    read_tokenizer,
    unusable,
    version_of,
)
from unified_state.setting_table import MODEL_NAMES, STATIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_FORM = 1  # raised when texts are read differently, which changes the vectors
_NAME = "embedding.weight"
_LONGEST_HEADER = 1 << 20


class StaticModel:
    """The memory-mapped table."""

    name = MODEL_NAMES[STATIC]
    dimensions = 256
    trust = 0.3  # measured on LoCoMo: with more, hits found by words are lost

    def __init__(self) -> None:
        weights = PackageFile("wordllama", "wordllama/weights/l2_supercat_256.safetensors")
        words = PackageFile("wordllama", "wordllama/tokenizers/l2_supercat_tokenizer_config.json")
        self.version = f"{version_of(weights, words)}.{_FORM}"
        self._tokenizer = read_tokenizer(words)
        self._table = read_table(weights.path, _NAME)
        if self._table.shape != (self._tokenizer.get_vocab_size(), self.dimensions):
            raise unusable(weights.path, f"its table is {self._table.shape}")

    def encode(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return the vector of each text, from its first 24,000 characters, or None for one without words."""
        begins = [begin_of(text).strip() for text in texts]
        tokens = [one.ids for one in self._tokenizer.encode_batch(begins, add_special_tokens=False)]
        return [pack_unit(self._table[ids].sum(0, np.float32)) if ids else None for ids in tokens]


def read_table(path: str, name: str) -> NDArray[np.float16]:
    """Return one float16 table of a safetensors file: the length of a header, the header as JSON, then the numbers."""
    with open_regular(path) as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(min(length, _LONGEST_HEADER))
    try:
        told = json.loads(header)[name]
        begin, _ = told["data_offsets"]
        table: NDArray[np.float16] = np.memmap(path, np.dtype("<f2"), "r", 8 + length + begin, tuple(told["shape"]))
    except (ValueError, KeyError, TypeError) as error:
        raise unusable(path, error) from error
    if told["dtype"] != "F16":
        raise unusable(path, f"it holds {told['dtype']}, not F16")
    return table
