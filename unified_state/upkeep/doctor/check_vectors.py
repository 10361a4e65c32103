"""Whether searches by meaning, where they are turned on, have a model and vectors to go by."""

from __future__ import annotations

import os

from unified_state.errors import UnifiedStateError
from unified_state.memory.archive.archive import Archive
from unified_state.setting_table import OFF
from unified_state.upkeep.doctor.doctor_check import Check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.memory.repository.place import Place
    from unified_state.settings import Settings

_NAME = "search by meaning"


def check_meaning(place: Place, settings: Settings) -> Iterator[Check]:
    """One check where it is turned on; none where it is not."""
    if settings.search_vectors == OFF or not os.path.exists(place.archive_path):
        return
    try:
        from unified_state.search.query_meaning import open_reader

        reader = open_reader(settings.search_vectors)
        with Archive(place.archive_path) as archive:
            has_vectors = reader.knows(archive)
    except UnifiedStateError as error:
        yield Check(_NAME, ok=False, message=error.message, hint=error.hint)
        return
    if has_vectors:
        yield Check(_NAME, ok=True, message=f"by the model {settings.search_vectors}")
    else:
        message = f"no step has a vector of the model {settings.search_vectors} as it is now"
        yield Check(_NAME, ok=False, message=message, hint="`unified-state embed` makes them")
