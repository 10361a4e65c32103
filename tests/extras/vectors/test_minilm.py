from __future__ import annotations

import base64
import json
import math
import struct
from pathlib import Path

import pytest

from benchmarks.minilm_folder import minilm_folder
from unified_state.extras.vectors.minilm import MiniLm
from unified_state.extras.vectors.open_model import open_model

KNOWN = json.loads((Path(__file__).parent / "minilm_known.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model() -> MiniLm:
    return open_model(minilm_folder())


def numbers(vector: bytes | None) -> tuple[float, ...]:
    assert vector is not None
    return struct.unpack(f"<{len(vector) // 2}e", vector)


def cosine(one: bytes | None, other: bytes | None) -> float:
    return sum(a * b for a, b in zip(numbers(one), numbers(other), strict=True))


def test_the_tokens_are_those_of_bert_base_uncased() -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(minilm_folder(), "tokenizer.json")))
    tokenizer.no_padding()
    for text, ids in KNOWN["tokens"].items():
        assert tokenizer.encode(text).ids == ids


@pytest.mark.parametrize("text", KNOWN["vectors"])
def test_a_vector_is_that_of_sentence_transformers(model: MiniLm, text: str) -> None:
    (vector,) = model.encode([text])
    assert numbers(vector)[:8] == pytest.approx(KNOWN["vectors"][text], abs=0.01)  # theirs is of whole weights


BEFORE = json.loads((Path(__file__).parent / "minilm_before.json").read_text(encoding="utf-8"))
LINES = (("index", "merged", 12), ("offset", "kept", 40), ("table", "locked", 90))


def test_a_vector_equals_the_one_that_was_made_in_a_batch_with_padding(model: MiniLm) -> None:
    row = "def read_rows(path: str) -> list[Row]:\n    return [parse(line) for line in open(path)]\n"
    texts = ["the login page is broken", "cache", row * 6]
    texts += [f"the {noun} of the archive is read again and {verb} " * count for noun, verb, count in LINES]
    for vector, packed in zip(model.encode([*texts, texts[0]]), [*BEFORE, BEFORE[0]], strict=True):
        assert numbers(vector) == pytest.approx(numbers(base64.b64decode(packed)), abs=5e-4)


def test_of_a_long_text_begin_middle_and_end_count(model: MiniLm) -> None:
    filling = "the cache never expires and the disk fills up " * 40
    said = "tomatoes grow well in the sun"
    texts = (filling * 3, said + filling * 3, filling * 3 + said, filling + said * 60 + filling)
    tomatoes, *vectors = model.encode([said, *texts])
    plain, *others = (cosine(tomatoes, vector) for vector in vectors)
    assert all(other > plain + 0.02 for other in others)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "x" * 1_000_000, "你好世界今天天气很好", "\x00\x01\x02" * 500],
    ids=lambda text: repr(text[:8]),
)
def test_what_holds_nothing_that_it_can_read_has_no_vector(model: MiniLm, text: str) -> None:
    assert model.encode([text]) == [None]


@pytest.mark.parametrize(
    "text",
    [
        "half \ud83d an emoji",
        "cache\x00 \x1b[31mred\x1b[0m \ufffd",
        "Größe: 日本 cache misses in the test",
        "nan NaN inf",
    ],
    ids=ascii,
)
def test_odd_characters_do_no_harm(model: MiniLm, text: str) -> None:
    (vector,) = model.encode([text])
    assert all(map(math.isfinite, numbers(vector)))
