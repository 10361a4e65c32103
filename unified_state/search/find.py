"""Find: a search with filters in words, in this repository or in all of them, and recalls that count as accesses."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unified_state.archive.archive import Archive, reporting
from unified_state.archive.cut_outputs import note_recall
from unified_state.archive.full_text import Filters
from unified_state.archive.session_work import find_note
from unified_state.archive.steps import KIND_NUMBERS, index_left, steps_of_turn
from unified_state.errors import NotFoundError, UnifiedStateError, UsageError
from unified_state.extension import hook, need
from unified_state.ledger.find_sources import entry_steps
from unified_state.ledger.item_table import items_called
from unified_state.lib.query import words_of
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import one_line, unpack
from unified_state.model.item import ALIAS_LETTERS
from unified_state.model.refs import COMPACTION, STEP, TURN, kind_of, note_number, parse_ref
from unified_state.model.step import KINDS, NOTICE, Hit
from unified_state.project.workspace.workspace import Workspace, items_for_all
from unified_state.search.rules.query_dates import time_named
from unified_state.search.search_archive import note_accesses, rank, search
from unified_state.setting_table import OFF

if TYPE_CHECKING:
    from unified_state.search.recall_ref import Part
    from unified_state.search.search_archive import Reader

Page = Callable[[dict[str, Any]], dict[str, Any]]

_ACCESS = 0.1  # of a search hit; a recalled step weighs 1
_OF_EACH = 20  # steps of an archive that are ranked together, where all are searched
_NOTED = 3  # hits of a search that count as accessed
_TOOLS = 20  # most tool names in a message


class SearchRequest(Record):
    """A search: its query, the number of hits, and its filters. `turns` are the only ones that are searched."""

    query: str
    limit: int = 10
    session_id: str | None = None
    since: str | None = None
    tool: str | None = None
    file: str | None = None
    kind: str | None = None
    turns: tuple[int, ...] | None = None


class LocatedHit(Record):
    """A hit, its archive, the last known folder of the archive's repository, and the title of the hit's session."""

    archive: str
    worktree: str | None
    title: str | None
    hit: Hit


def find(workspace: Workspace, wanted: SearchRequest, now: int) -> list[Hit]:
    """Return the best hits in this repository. The first of them rank a little higher in later searches."""
    filters = filters_of(wanted, now)
    reader, also = query_reader(workspace), items_for_all(workspace)

    def action(archive: Archive) -> list[Hit]:
        _index(workspace.report, archive)
        if reader is not None and not reader.knows(archive):
            workspace.report("searched by words alone: no step has a vector yet; `unified-state embed` makes them")
        query, limit, session_id = wanted.query, wanted.limit, wanted.session_id
        hits = search(archive, query, limit, session_id, now=now, filters=filters, reader=reader, also=also)
        if not hits and wanted.tool is not None:
            _refuse_unknown_tool(archive, wanted.tool)
        steps = [int(hit.ref[1:]) for hit in hits[:_NOTED] if kind_of(hit.ref) == STEP]
        _note(workspace, archive, steps, _ACCESS, now)
        return hits

    return workspace.use(action)


def recall_and_note(
    workspace: Workspace, ref: str, now: int, part: Part | None = None, page: Page = dict
) -> dict[str, Any]:
    """Return the content of a ref unchanged, or a part of it, cut by `page`. Raises NotFoundError.

    Its steps rank higher in later searches, and those of the entry that an item comes from.
    """
    from unified_state.search.recall_ref import part_of, recall  # not needed for a search

    number = note_number(ref)
    if number is not None:
        return page(disk_value(workspace.use(lambda archive: find_note(archive, number))))

    def action(archive: Archive) -> dict[str, Any]:
        found = recall(archive, ref)
        found = page(found if part is None else part_of(found, part))
        found["ref"] = workspace.place.mark + found["ref"]
        kind, number = parse_ref(ref)
        if kind in {STEP, TURN}:
            steps = [number] if kind == STEP else [step for step, _ in steps_of_turn(archive, number)]
            _note(workspace, archive, steps, 1.0, now, shown=len(found.get("result", "")))
        elif kind != COMPACTION:
            source = next((item.source_uuid for item in items_called(archive, ref)), None)
            _note(workspace, archive, entry_steps(archive, source) if source else [], 1.0, now)
        return found

    return workspace.use(action)


def find_everywhere(workspace: Workspace, wanted: SearchRequest, now: int) -> list[LocatedHit]:
    """Return the best hits of all repositories, best first, and report archives that cannot be read.

    Each archive ranks its own, by scores of its own. All of one rank lower where its best hit has only a part of the
    query.
    """
    filters, reader = filters_of(wanted, now), query_reader(workspace)
    ranked: list[tuple[float, LocatedHit]] = []
    unknown, is_searched = None, False
    for path in archives_of(workspace):
        try:
            with Archive(path) as archive:
                _index(workspace.report, archive)
                query, limit, session_id = wanted.query, wanted.limit, wanted.session_id
                hits = search(
                    archive, query, limit, session_id, now=now, filters=filters, candidates=_OF_EACH, reader=reader
                )
                worktree = worktree_of(archive)
                for hit in hits:
                    share = hit.score / hits[0].score if hits[0].score > 0 else 1.0
                    title = _title(archive, hit.session_id)
                    ranked.append((hits[0].coverage * share, LocatedHit(path, worktree, title, hit)))
                is_searched = True
        except NotFoundError as error:
            unknown = error
        except UnifiedStateError as error:
            workspace.report(f"skipped: {error.message}")
    if unknown and not is_searched:
        raise unknown
    ranked.sort(key=lambda one: (-one[0], rank(one[1].hit)))
    return [found for _, found in ranked[: max(0, wanted.limit)]]


def is_team_ref(ref: str) -> bool:
    """Return whether a ref names something on a team's server, and the team's extra is there."""
    is_ref = hook("IS_TEAM_REF") if ":" in ref else None
    return bool(is_ref and is_ref(ref))


def query_reader(workspace: Workspace, *, is_told: bool = False) -> Reader | None:
    """Return the reader of meanings if the user enabled it.

    If it cannot be opened, the search uses words alone, and that is reported unless `is_told`.
    """
    settings = workspace.settings
    if settings.search_vectors == OFF:
        return None
    try:
        reader: Reader = need("OPEN_READER")(settings.minilm_folder)
    except UnifiedStateError as error:
        if not is_told:
            workspace.report(f"searched by words alone: {error}")
        return None
    return reader


def filters_of(wanted: SearchRequest, now: int) -> Filters:
    """Return the filters of a search. Raises UsageError for invalid values."""
    since = None if wanted.since is None else time_named(wanted.since, now, "--since ")
    if wanted.kind is not None and wanted.kind not in {*KINDS, *ALIAS_LETTERS}:
        message = f"--kind {wanted.kind[:60]!r} is no kind of step or item"
        raise UsageError(message, f"kinds are {', '.join([*KINDS, *ALIAS_LETTERS])}")
    if wanted.file is not None and not words_of(wanted.file):
        message = f"--file {wanted.file[:60]!r} is no name of a file"
        raise UsageError(message, "say app.py, or src/app.py")
    return Filters(since=since, tool=wanted.tool, file=wanted.file, kind=wanted.kind, turns=wanted.turns)


def _refuse_unknown_tool(archive: Archive, tool: str) -> None:
    if archive.row("SELECT 1 FROM step WHERE tool = ? COLLATE NOCASE LIMIT 1", tool) is None:
        known = archive.column("SELECT DISTINCT tool FROM step WHERE tool NOT NULL ORDER BY tool")
        message = f"--tool {tool[:60]!r}: no call of such a tool is archived"
        raise NotFoundError(message, f"tools are {one_line(', '.join(known[:_TOOLS]))}" if known else "")


def _note(
    workspace: Workspace, archive: Archive, steps: list[int], weight: float, now: int, shown: int | None = None
) -> None:
    """Record the accessed steps, and how much of a tool output was shown."""
    with reporting(workspace.report, archive, "what was looked up could not be noted"):
        note_accesses(archive, steps, weight, now)
        if shown:
            note_recall(archive, steps[0], shown)


def _index(report: Callable[[str], None], archive: Archive) -> None:
    """Index the tool outputs that their hook left unindexed."""
    if archive.row("SELECT 1 FROM unindexed LIMIT 1"):
        with reporting(report, archive, "the newest outputs are not searched"), archive.transaction(durable=False):
            index_left(archive)


def worktree_of(archive: Archive) -> str | None:
    """Return the last known folder of an archive's repository."""
    return archive.value(
        "SELECT coalesce(worktree, root) AS folder FROM session WHERE folder NOT NULL "
        "ORDER BY worktree IS NULL, seen_at DESC LIMIT 1"
    )


def _title(archive: Archive, session_id: str | None) -> str | None:
    """Return the newest title of a session, the one that the user gave it before the client's."""
    query = (
        "SELECT body FROM session JOIN turn ON turn.session = session.id JOIN step ON step.turn = turn.id "
        "WHERE session_id = ? AND kind = ? AND tool IN ('custom-title', 'ai-title') "
        "ORDER BY tool DESC, step.id DESC LIMIT 1"
    )
    return unpack(archive.value(query, session_id, KIND_NUMBERS[NOTICE])) or None


def archives_of(workspace: Workspace) -> list[str]:
    """Return the archives of all repositories, this one's first."""
    folder = os.path.join(workspace.settings.data_dir, "repositories")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [workspace.place.archive_path, *(os.path.join(folder, name, "archive.db") for name in names)]
    return [path for path in dict.fromkeys(paths) if os.path.isfile(path)]
