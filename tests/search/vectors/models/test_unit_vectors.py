from __future__ import annotations

import numpy as np
import pytest

from unified_state.search.vectors.models.model_files import begin_of, pack_unit


def test_a_vector_becomes_one_of_unit_length() -> None:
    packed = pack_unit(np.array([3, 4], np.float32))
    assert packed is not None
    assert np.frombuffer(packed, "<f2").tolist() == pytest.approx([0.6, 0.8], abs=1e-3)


@pytest.mark.parametrize("numbers", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_what_has_no_direction_is_no_vector(numbers: list[float]) -> None:
    assert pack_unit(np.array(numbers, np.float32)) is None


def test_half_a_character_is_made_one_that_can_be_encoded() -> None:
    assert begin_of("half \ud83d an emoji").encode()


def test_of_a_megabyte_the_begin_is_taken() -> None:
    assert begin_of("x" * 1_000_000) == "x" * 24_000
