"""MiniLM's files lie in a folder that the user names. Only known files are used, and each problem is one line."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.minilm_folder import minilm_folder
from unified_state.errors import DamagedFileError, SettingError, StorageError
from unified_state.extras.vectors import minilm
from unified_state.extras.vectors.minilm import FOLDER_HELP
from unified_state.extras.vectors.open_model import open_model

VERSION_BEFORE = "7cc09e2963a4.1"  # of the vectors that were made of the packages' files
WEIGHTS, WORDS = "model.onnx", "tokenizer.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The user's folder with both files."""
    for name in (WEIGHTS, WORDS):
        shutil.copy(Path(minilm_folder(), name), tmp_path / name)
    return tmp_path


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


def test_the_folder_is_all_that_it_needs_and_vectors_made_of_the_packages_go_on(folder: Path) -> None:
    assert open_model(str(folder)).version == VERSION_BEFORE


@pytest.mark.parametrize("named", ["", "models/minilm"])
def test_without_the_path_of_a_folder_it_says_what_to_do(named: str) -> None:
    with pytest.raises(SettingError, match="the model minilm needs minilm_folder") as caught:
        open_model(named)
    assert caught.value.hint == FOLDER_HELP


@pytest.mark.parametrize("name", [WEIGHTS, WORDS])
def test_a_file_that_is_missing_is_told(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(StorageError) as caught:
        open_model(str(folder))
    assert str(caught.value) == f"{folder / name} cannot be read: No such file or directory; {FOLDER_HELP}"


@pytest.mark.parametrize("name", [WEIGHTS, WORDS])
def test_a_file_with_one_other_byte_is_refused(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[200_000] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(DamagedFileError) as caught:
        open_model(str(folder))
    digest = hashlib.sha256(content).hexdigest()
    assert str(caught.value) == (
        f"{folder / name} is not a known file of the model: its SHA-256 is {digest}; {FOLDER_HELP}"
    )


@pytest.mark.parametrize(
    ("name", "content"), [(WEIGHTS, b"none"), (WEIGHTS, OTHER_MODEL), (WORDS, b"{}"), (WORDS, b"\xff")]
)
def test_a_known_file_that_cannot_be_used_is_told_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    (folder / name).write_bytes(content)
    monkeypatch.setitem(minilm.KNOWN, name, (hashlib.sha256(content).hexdigest(),))
    with pytest.raises(DamagedFileError) as caught:
        open_model(str(folder))
    told = str(caught.value)
    assert told.startswith(f"{folder / name} is no model that can be used here: ")
    assert told.endswith(f"; {FOLDER_HELP}")
    assert "\n" not in told


@pytest.mark.parametrize("name", [WEIGHTS, WORDS])
def test_the_known_digests_stand_on_the_page_that_tells_where_to_get_the_files(name: str) -> None:
    page = Path(__file__).parents[3] / "docs" / "extras" / "search-by-meaning.md"
    told = page.read_text(encoding="utf-8")
    known: Sequence[str] = minilm.KNOWN[name]
    assert all(digest in told for digest in known)
