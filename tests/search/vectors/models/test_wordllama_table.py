from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest

from unified_state.errors import DamagedFileError
from unified_state.search.vectors.models import open_model
from unified_state.search.vectors.models.wordllama_table import read_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.search.vectors.models import Model

KNOWN = json.loads((Path(__file__).parent / "static_known.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model() -> Model:
    return open_model("static")


def numbers(vector: bytes | None) -> tuple[float, ...]:
    assert vector is not None
    return struct.unpack(f"<{len(vector) // 2}e", vector)


@pytest.mark.parametrize("text", KNOWN)
def test_a_vector_is_that_of_wordllama_itself(model: Model, text: str) -> None:
    (vector,) = model.encode([text])
    assert numbers(vector)[:8] == pytest.approx(KNOWN[text], abs=2e-3)


def test_vectors_are_float16_of_unit_length_and_of_the_dimensions_told(model: Model) -> None:
    (vector,) = model.encode(["a cache that never expires"])
    assert len(numbers(vector)) == model.dimensions == 256
    assert math.hypot(*numbers(vector)) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_text_without_a_word_has_no_vector(model: Model, text: str) -> None:
    assert model.encode([text]) == [None]


@pytest.mark.parametrize(
    "text",
    ["half \ud83d an emoji", "x" * 1_000_000, "你好世界", "\x00\x01\x02" * 500, "nan"],
    ids=lambda text: ascii(text[:8]),
)
def test_odd_texts_do_no_harm(model: Model, text: str) -> None:
    (vector,) = model.encode([text])
    assert all(map(math.isfinite, numbers(vector)))


def write_table(path: Path, kind: str) -> Path:
    header = json.dumps({"t": {"dtype": kind, "shape": [2, 2], "data_offsets": [0, 8]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + np.arange(4, dtype="<f2").tobytes())
    return path


def test_a_table_is_read_as_it_lies_in_its_file(tmp_path: Path) -> None:
    assert read_table(str(write_table(tmp_path / "t", "F16")), "t").tolist() == [[0, 1], [2, 3]]


def test_a_table_of_other_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DamagedFileError, match="holds F32, not F16"):
        read_table(str(write_table(tmp_path / "t", "F32")), "t")
