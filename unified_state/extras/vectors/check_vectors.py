"""Checks for `doctor`: whether a search by meaning has a model and vectors, if it is enabled."""

from __future__ import annotations

import os
from collections.abc import Iterator

from unified_state.errors import UnifiedStateError
from unified_state.model.check import Check, bad, good
from unified_state.setting_table import OFF
from unified_state.upkeep.doctor.diagnose import Subject


def checks(subject: Subject) -> Iterator[Check]:
    """Yield one, if it is enabled."""
    name, model = "search by meaning", subject.settings.search_vectors
    if model == OFF or not os.path.exists(subject.history):
        return
    try:
        from unified_state.extras.vectors.query_meaning import open_reader

        reader = open_reader(subject.settings.minilm_folder)
        with subject.open() as archive:
            has_vectors = reader.knows(archive)
    except UnifiedStateError as error:
        yield bad(name, error.message, error.hint)
        return
    if has_vectors:
        yield good(name, f"by the model {model}")
    else:
        yield bad(name, f"no step has a vector of the model {model} as it is now", "`unified-state embed` makes them")
