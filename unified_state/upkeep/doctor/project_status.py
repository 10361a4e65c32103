"""Status: the number of records of a place."""

from __future__ import annotations

from collections.abc import Mapping

from unified_state.archive.archive import Archive
from unified_state.archive.cut_outputs import Savings, read_savings
from unified_state.archive.sessions import count_sessions
from unified_state.errors import UnifiedStateError
from unified_state.hosts.install.claude_settings import disabling_file
from unified_state.lib.record import Record
from unified_state.lib.times import CLOCK_AHEAD, is_past, to_milliseconds
from unified_state.project.health import health_line
from unified_state.project.place import Place
from unified_state.project.workspace.workspace import Workspace
from unified_state.settings import Settings
from unified_state.state_file.state_file import state_file_of

# Forgotten and pruned steps keep empty rows, which do not count.
_STEPS = """
SELECT (SELECT count(*) FROM step) - (SELECT count(*) FROM pruned)
    - (SELECT count(*) FROM tombstone WHERE what = 'step' AND waits IS NULL)
"""
# What is still to come was written by a clock that was ahead.
_NEWEST_STEP_AT = """
SELECT max(at) FROM step WHERE at <= ?1
    AND turn = (SELECT id FROM turn WHERE at BETWEEN 1 AND ?1 ORDER BY at DESC LIMIT 1)
"""


class VectorCount(Record):
    """The number of steps that have a vector of one version of a model."""

    model: str
    version: str
    steps: int


class Status(Record):
    """The numbers of one repository. Sizes are in bytes, times in milliseconds since 1970."""

    repository: str
    worktree: str
    tier: str
    archive_path: str
    state_path: str
    archive_bytes: int
    sessions: int
    turns: int
    steps: int
    compactions: int
    items: dict[str, dict[str, int]]
    paged_out: int
    newest_step_at: int | None
    saved_at: str | None
    health: str | None
    lean: Savings
    vectors: tuple[VectorCount, ...]


def silence(place: Place, settings: Settings, environ: Mapping[str, str]) -> list[str]:
    """Return why nothing that happens here is archived, if that is so."""
    origin, disabling = settings.origin["enabled"], disabling_file(place.repository.worktree, environ)
    told = [] if settings.enabled else [f"nothing is archived: enabled = false ({origin})"]
    return [*told, f"nothing is archived: disableAllHooks in {disabling}"] if disabling else told


def status_of(archive: Archive, workspace: Workspace, now: int, environ: Mapping[str, str]) -> Status:
    """Return the status that an archive and its place tell."""
    place = workspace.place
    health = [*silence(place, workspace.settings, environ), health_line(place.folder, now)]
    return Status(
        repository=place.id or "",
        worktree=place.repository.worktree,
        tier="json" if archive.has_journal else "sqlite",
        archive_path=archive.file,
        state_path=place.state_path,
        archive_bytes=archive.size(),
        sessions=count_sessions(archive),
        turns=archive.row("SELECT count(*) FROM turn")[0],
        steps=archive.row(_STEPS)[0],
        compactions=archive.row("SELECT count(*) FROM compaction")[0],
        items=_item_counts(archive),
        paged_out=archive.row("SELECT count(paged_out_at) FROM item")[0],
        newest_step_at=archive.value(_NEWEST_STEP_AT, now + CLOCK_AHEAD),
        saved_at=read_saved_at(archive, place),
        health="; ".join(filter(None, health)) or None,
        lean=read_savings(archive),
        vectors=vector_counts(archive),
    )


def read_saved_at(archive: Archive, place: Place) -> str | None:
    """Return when the state was saved: the last save, or what our state file says if only items were recorded. None if
    there is no such file. The file is not changed.
    """
    saved: str | None = archive.value("SELECT at FROM saved WHERE state_path = ?", place.state_path)
    if saved is not None:
        return saved
    try:
        content = state_file_of(place).load()
    except UnifiedStateError:
        return None
    said = (content.json or {}).get("timestamp") if content.is_ours else None
    return said if to_milliseconds(said) is not None else None


def minutes_since(saved_at: str | None, now: int) -> float | None:
    """Return the age of a time in minutes; None of one that is missing or still to come."""
    saved = to_milliseconds(saved_at)
    return round(max(0, now - saved) / 60_000, 2) if saved is not None and is_past(saved, now) else None


def _item_counts(archive: Archive) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    query = "SELECT kind, status, count(*) FROM item GROUP BY kind, status ORDER BY min(id)"
    for kind, status, count in archive.rows(query):
        counts.setdefault(kind, {})[status] = count
    return counts


def vector_counts(archive: Archive) -> tuple[VectorCount, ...]:
    """Return the number of vectors of each model."""
    query = "SELECT name, version, count(*) FROM vector JOIN vector_model ON vector_model.id = model GROUP BY model"
    return tuple(VectorCount(*row) for row in archive.rows(query))
