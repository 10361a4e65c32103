"""Whether the constraints of a repository are enforced: the table is whole and as the ledger says, and the hook that
reads it stands in the worktree's settings.
"""

from __future__ import annotations

import os

from unified_state.constraints.compile_constraints import enforced
from unified_state.constraints.constraint_table import has_hook, read_stamp, read_table, settings_path, table_path
from unified_state.errors import UnifiedStateError
from unified_state.memory.archive.archive import Archive
from unified_state.memory.ledger.item_table import ACTIVE, list_items
from unified_state.model.item import CONSTRAINT
from unified_state.upkeep.doctor.doctor_check import Check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.memory.repository.place import Place

_NAME = "enforced constraints"
_MENDS = "the next session start mends it"


def check_enforcement(place: Place) -> Iterator[Check]:
    """One check where anything is enforced; none where nothing is."""
    if not os.path.exists(place.archive_path):
        return
    try:
        with Archive(place.archive_path) as archive:
            wanted, (_, stamp) = enforced(list_items(archive, CONSTRAINT, [ACTIVE])), read_stamp(archive)
    except UnifiedStateError:
        return  # the check of the archive tells
    table, settings = read_table(place.folder), settings_path(place.repository.worktree)
    if not wanted and not has_hook(place):
        return
    if wanted and table is None:
        path = table_path(place.folder)
        yield Check(
            _NAME, ok=False, message=f"{path} is missing or damaged", hint=f"the next tool call or {_MENDS[4:]}"
        )
    elif table is not None and table.stamp != stamp:
        yield Check(_NAME, ok=False, message="the table is not as the ledger says", hint=_MENDS)
    elif bool(wanted) != has_hook(place):
        what = f"{settings} lacks the hook" if wanted else f"{settings} has a hook with nothing to enforce"
        yield Check(_NAME, ok=False, message=what, hint=f"{_MENDS}, if the file is valid JSON")
    else:
        told = ", ".join(f"{entry.ref} ({entry.mode})" for entry in wanted)
        yield Check(_NAME, ok=True, message=f"{told}; hook in {settings}")
