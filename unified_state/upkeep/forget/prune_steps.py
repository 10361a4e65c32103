"""Retention, only where it is asked for: what a prune would take, and the prune itself.

Nothing else in this program deletes by age, size or use; no hook, no variable, no file of a repository can ask for it.
A prune is this machine's own: what it takes is not forgotten elsewhere, and no server is told.
"""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.lib.record import Record
from unified_state.memory.archive.pruned_steps import choose_least_used, choose_older, content_bytes, prune_some
from unified_state.memory.archive.write_steps import tidy
from unified_state.memory.ledger.rules.binding import may_decide
from unified_state.search.rules.query_dates import begin_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.archive.pruned_steps import Prunable
    from unified_state.memory.workspace.workspace import Workspace

_DAY = 86_400_000
_MEGABYTE = 1_000_000


class Choice(Record):
    """What is chosen: all from before a time, or of that, where there is a size, what was least used, down to it."""

    before: int
    most_bytes: int | None = None


class Pruned(Record):
    """What a prune took, or would take; `archive_bytes` is the size of the archive's file now, or of the journal."""

    prunable: Prunable
    is_done: bool
    archive_bytes: int


def older_than(age: str, now: int) -> Choice:
    """Chooses what is older than an age, `180d`, or than a date, `2026-01-01`."""
    before = begin_of(age, now) if age.strip() else None
    if before is None or before > now:
        message = f"--older-than {age[:60]!r} is no age"
        raise UsageError(message, "for example 180d, 2026-01-01")
    return Choice(before)


def by_policy(workspace: Workspace, now: int) -> Choice:
    """Chooses what the user's own policy lets go: of an archive that is larger than it may be, what was least used."""
    settings = workspace.settings
    if not settings.retention_megabytes:
        message = "there is no policy: nothing is ever deleted unless you ask for it"
        raise UsageError(message, "set retention_megabytes in your own settings file, or use --older-than")
    return Choice(now - settings.retention_spares_days * _DAY, settings.retention_megabytes * _MEGABYTE)


def preview(workspace: Workspace, choice: Choice) -> Pruned:
    """What a prune would take."""
    return workspace.use(lambda archive: _pruned(archive, _choose(archive, choice), is_done=False))


def prune(workspace: Workspace, choice: Choice, report: Callable[[int], None]) -> Pruned:
    """Take it; `report` is told how many steps went. What was taken before an interruption stays taken."""
    if not may_decide(workspace.origin):
        message = "only the user prunes"
        raise UsageError(message, "ask them to run this in a terminal of their own; --dry-run shows what would go")

    def action(archive: Archive) -> Pruned:
        chosen = _choose(archive, choice)
        while done := prune_some(archive):
            report(done)
        if chosen.steps:
            tidy(archive)
        return _pruned(archive, chosen, is_done=True)

    return workspace.use(action)


def _choose(archive: Archive, choice: Choice) -> Prunable:
    if choice.most_bytes is None:
        return choose_older(archive, choice.before)
    size = archive.size()
    # With a step's content goes its share of the index: the file shrinks in proportion.
    least = content_bytes(archive) * (size - choice.most_bytes) // max(1, size)
    return choose_least_used(archive, choice.before, max(0, least))


def _pruned(archive: Archive, chosen: Prunable, *, is_done: bool) -> Pruned:
    return Pruned(chosen, is_done, archive.size())
