"""The health of the archive, as a session start reports it to the user."""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import count_sessions
from unified_state.constraints.constraint_table import ever_enforced, has_hook
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.project.health import health_line

_FIRST_SESSIONS = 3  # of an archive: they are shown other archives that may be meant


def find_health(call: HookCall, archive: Archive) -> str | None:
    """Return the health of the archive for a person, one problem on each line, or None.

    It also updates the enforcement of constraints and the record of this checkout.
    """
    from unified_state.project.identity import remember  # a turn's end records no checkout

    place = call.workspace.place
    remember(place.repository, place.folder)
    lines = [_unjoined_line(call, archive)]
    if ever_enforced(archive, place.folder) or has_hook(place):
        from unified_state.constraints.compile_constraints import (
            check_in_place,  # other repositories have nothing to check
        )

        lines.append(check_in_place(archive, call.workspace))
    return "\n".join(filter(None, [*lines, health_line(place.folder, call.now)])) or None


def _unjoined_line(call: HookCall, archive: Archive) -> str | None:
    """Return a line for the first sessions of a new archive if another archive may be meant."""
    place, data_dir = call.workspace.place, call.settings.data_dir
    if not is_among_first(archive):
        return None
    from unified_state.project.workspace.link import unjoined_line  # few sessions have another archive as a candidate

    return unjoined_line(place, data_dir)


def is_among_first(archive: Archive) -> bool:
    """Return whether the next session is among the first of an archive."""
    return count_sessions(archive) < _FIRST_SESSIONS
