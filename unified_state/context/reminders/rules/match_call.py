"""Find the reminders that are about a tool call, and word the line for the model."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from unified_state.model.reminder import Reminder

BEGINNING = 40  # characters of a command's key that are compared before its digest is computed
_MOST_REFS = 6


def about_command(
    reminders: Iterable[Reminder], command: str, roots: Collection[str], digest: Callable[[str], str]
) -> list[Reminder]:
    """Return the reminders about a shell command that runs in one of these roots. `digest` returns that of its key."""
    begin = " ".join(command.split())[:BEGINNING]
    alike = [one for one in reminders if one.root in roots and begin.startswith(one.begin)]
    if not alike:
        return []
    own = digest(command)
    return [one for one in alike if one.digest == own]


def about_file(
    reminders: Iterable[Reminder], relative: Collection[str], absolute: Collection[str], exists: Callable[[str], bool]
) -> list[Reminder]:
    """Return the reminders about a file, which is given by its paths in the worktree and by its absolute paths.

    A fact may name a file by the end of its path alone. Where the worktree has a file of exactly that path (`exists`),
    the fact is about that one.
    """

    def is_meant(named: str) -> bool:
        if named in relative or named in absolute:
            return True
        return any(path.endswith(f"/{named}") for path in relative) and not exists(named)

    return [one for one in reminders if any(map(is_meant, one.files))]


def reminder_line(found: Sequence[Reminder]) -> str:
    """Return the one line for the model: the first reminder in full, and the refs of the others."""
    others = ", ".join(one.ref for one in found[1 : 1 + _MOST_REFS])
    more = f" Also about it: {others}; `unified-state show REF` prints one." if others else ""
    return f"[BEFORE THIS CALL] {found[0].text}{more}"
