from __future__ import annotations

import math
import struct

import pytest

from tests.builders import NOW, uuid_of
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.archive.steps import find_step
from unified_state.archive.text_columns import forget_step, replace_text
from unified_state.archive.write_steps import StepWriter
from unified_state.errors import UsageError
from unified_state.extras.vectors.vector_table import add_vectors, model_number, read_vectors, steps_without
from unified_state.lib.text import pack
from unified_state.model.step import EMBEDDED_CHARACTERS, PROMPT, TEXT, Step

IMAGE = "data:image/png;base64," + "aGVsbG8=" * 40


def vector(*values: float) -> bytes:
    """A vector of four dimensions and of unit length, as it is stored."""
    whole = [*values, *[0.0] * (4 - len(values))]
    length = math.hypot(*whole)
    return struct.pack("<4e", *(value / length for value in whole))


def add_steps(archive: Archive, *texts: str) -> None:
    with archive.transaction():
        writer = StepWriter(archive, touch_session(archive, "s", NOW), None)
        for number, text in enumerate(texts, 1):
            kind = PROMPT if number == 1 else TEXT
            step = Step(uuid=uuid_of(number), block=0, kind=kind, at=NOW, text=text, starts_turn=number == 1)
            writer.add(step, pack(text))


@pytest.fixture
def model(archive: Archive) -> int:
    add_steps(archive, "one", "two", "three", "four")
    return model_number(archive, "tiny", "1", 4)


def test_a_model_of_other_dimensions_under_the_same_name_is_refused(archive: Archive, model: int) -> None:
    with pytest.raises(UsageError, match="8 dimensions"):
        model_number(archive, "tiny", "1", 8)


def test_images_and_empty_texts_are_given_no_vector_and_stop_nobody(archive: Archive) -> None:
    add_steps(archive, "one", IMAGE, " \n", "", "two", IMAGE)
    model = model_number(archive, "tiny", "1", 4)
    assert steps_without(archive, model, 2) == [(5, "two"), (1, "one")]
    assert steps_without(archive, model, 1, before=5) == [(1, "one")]


def test_of_a_megabyte_no_more_is_read_than_a_vector_is_made_of(archive: Archive) -> None:
    add_steps(archive, "one " * 300_000)
    ((_, text),) = steps_without(archive, model_number(archive, "tiny", "1", 4), 1)
    assert text == ("one " * 300_000)[:EMBEDDED_CHARACTERS]


def test_a_forgotten_step_has_no_vector_and_gets_none(archive: Archive, model: int) -> None:
    other = model_number(archive, "other", "1", 4)
    for each in (model, other):
        add_vectors(archive, each, [(2, vector(1))])
    forget_step(archive, 2)
    assert add_vectors(archive, model, [(2, vector(1)), (99, vector(1))]) == 0  # it was under way
    assert read_vectors(archive, model, [2]) == read_vectors(archive, other, [2]) == {}
    assert 2 not in dict(steps_without(archive, model, 9))


def test_the_vector_of_a_text_that_was_replaced_is_gone(archive: Archive, model: int) -> None:
    add_vectors(archive, model, [(2, vector(1))])
    step = find_step(archive, 2)
    assert step is not None
    replace_text(archive, 2, step, "masked")
    assert read_vectors(archive, model, [2]) == {}
    assert (2, "masked") in steps_without(archive, model, 9)
