"""Compose the texts that a session gets back.

`gather` reads the ledger and the archive, never a state file, which may be stale. `compose` (in rules) chooses and
words the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import latest_compaction
from unified_state.archive.session_work import open_notes, pending_actions, read_work
from unified_state.archive.sessions import LOCAL_SESSION, session_id_of, session_number
from unified_state.archive.steps import opening_times, recent_steps, uses_of_turns
from unified_state.capture.survival_table import find_survival
from unified_state.ledger.check_validity import read_validities
from unified_state.ledger.item_table import ACTIVE, count_items, items_to_restore, paged_out_refs
from unified_state.ledger.rules.short_item import oldest_first, unenforced
from unified_state.lib.files import lies_in
from unified_state.lib.json_text import parse_json
from unified_state.lib.times import is_past, to_milliseconds, to_text
from unified_state.model.item import LedgerItem
from unified_state.model.known import (
    Composition,
    Prompt,
    Reason,
    RecentWork,
    RestoreInput,
    Statement,
    Turn,
    WorkingFile,
)
from unified_state.model.session_state import GitState, WorkItem
from unified_state.model.step import NOTICE, PROMPT, TEXT, Step
from unified_state.project.place import Place, global_place
from unified_state.project.workspace.workspace import Workspace, items_for_all
from unified_state.restore.restore_table import count_turns, read_saved
from unified_state.restore.rules.compose import compose, hand_over
from unified_state.restore.rules.recent_work import recent_work
from unified_state.restore.rules.session_files import session_files
from unified_state.restore.tree_view import TreeView, timed_view
from unified_state.settings import Settings, environment

_PENDING, _STEPS, _PROMPTS = 20, 1_000, 400
_LAST_STEPS, _LAST_PROMPTS = 60, 8
_TYPED = ("<command-", "<teammate-message")  # notices with words of the user or of a team's lead in them
_GIT_SECONDS = 1.0


def gather(
    archive: Archive,
    place: Place,
    source: int | None,
    reason: Reason,
    now: int,
    *,
    since: int | None = None,
) -> RestoreInput:
    """Return everything that a session may get back, from the ledger and from the session `source`."""
    *_, known = gather_in_stages(archive, place, source, reason, now, since=since)
    return known


def gather_in_stages(
    archive: Archive,
    place: Place,
    source: int | None,
    reason: Reason,
    now: int,
    *,
    since: int | None = None,
    with_turns: bool = False,
) -> Iterator[RestoreInput]:
    """Yield what `gather` returns as far as it is read: first the items, then all that is recorded, then the turns,
    and at last all of it compared with the working tree. A caller without more time uses the last one.

    On resume and fork only items count that others recorded `since` the last entry of `source`. The turns and the
    working set are read after a compaction, or with `with_turns`.
    """
    since = since if is_past(since, now) else None
    active = oldest_first(items_to_restore(archive), now)
    goes_on = reason in {"resume", "fork"}  # such a session knows its own items
    known = RestoreInput(
        reason=reason, now=now, items=tuple(_by_others(archive, source, since, active) if goes_on else active)
    )
    yield known
    is_compacted = reason in {"compact", "prompt"}
    known = known.replace(
        **_worked(archive, place, source, now),
        **_recorded(archive, reason, active),
        **(_last_compaction(archive, source) if is_compacted else {}),
    )
    yield known
    known = known.replace(
        **(
            _conversation(archive, source, place, reason)
            if is_compacted or with_turns
            else _end_of(archive, source, reason, place.repository.worktree)
        )
    )
    yield known
    yield _looked_up(archive, place, source, known, active)


def _worked(archive: Archive, place: Place, source: int | None, now: int) -> dict[str, Any]:
    """Return the work, the notes, the last save and the number of turns."""
    work, saved = _work_of(archive, source), read_saved(archive, place.state_path)
    turn_count, last_turn_at = count_turns(archive, now)
    return {
        "work_item": WorkItem.from_disk(work["workItem"]) if work.get("workItem") else None,
        "highlights": open_notes(archive, source, "highlight", 5),
        "pending_actions": pending_actions(archive, source, _PENDING),
        "saved_at": to_milliseconds(saved[0]) if saved else None,
        "git": GitState.from_disk(parse_json(saved[1])) if saved else None,
        "turn_count": turn_count,
        "last_turn_at": last_turn_at,
    }


def _recorded(archive: Archive, reason: Reason, active: list[LedgerItem]) -> dict[str, Any]:
    """Return what is recorded besides the items that are given back. A session that goes on knows its own."""
    if reason in {"resume", "fork"}:
        return {}
    return {
        "elsewhere": count_items(archive, ACTIVE) - len(active),
        "paged_out": _paged_out(archive, active),
    }


def _looked_up(
    archive: Archive,
    place: Place,
    source: int | None,
    known: RestoreInput,
    active: list[LedgerItem],
) -> RestoreInput:
    """Return what is known, compared with the working tree. For a prompt, which the user waits for, only items are."""
    if known.reason != "prompt" and source is not None and known.working_set:
        root = archive.value("SELECT root FROM session WHERE id = ?", source)
        known = as_in_tree(known, timed_view(place.repository.worktree), root or "")
    return known.replace(validities=read_validities(archive, place.repository, active))


def as_in_tree(known: RestoreInput, view: TreeView, root: str) -> RestoreInput:
    """Return what is known without the names that its edited files have lost, and with marks at files that are gone.

    The paths of a session are relative to its own folder, `root`. Where that is not the working tree they are not
    compared: the session ran on another machine, or in another worktree.
    """
    if not view.is_at(root):
        return known
    files = (_file_in(file, view) if file.is_used and not file.gone else file for file in known.working_set)
    return known.replace(working_set=tuple(files))


def _file_in(file: WorkingFile, view: TreeView) -> WorkingFile:
    if view.is_gone(file.path):
        return file.replace(gone="gone")
    return file.replace(words=tuple(word for word in file.words if not view.lacks(file.path, word)))


def restored_text(known: RestoreInput, settings: Settings, tokens: float | None = None) -> Composition:
    """Return the two texts for a session start under its settings. Both are empty if the settings disable the restore.

    `tokens` is an estimate. By default it is the setting.
    """
    if known.reason == "startup" and settings.restore_on_startup == "nothing":
        return Composition()
    if known.reason == "clear":
        if settings.restore_on_clear == "nothing":
            return Composition()
        if settings.restore_on_clear == "full":
            known = known.replace(reason="compact")
    if known.reason in {"resume", "fork"}:
        known = known.replace(git=None, highlights=(), pending_actions=(), work_item=None, turn_count=0)
    known = known.replace(**known_for_all(settings, known.health))
    limit = settings.restore_tokens if tokens is None else tokens
    return hand_over(known, limit) if known.handed_over else compose(known, limit)


def known_for_all(settings: Settings, health: str | None = None) -> dict[str, Any]:
    """Return what the user recorded for all projects, and the health with the problem if that cannot be read."""
    problems = [health] if health else []
    workspace = Workspace(global_place(settings.data_dir), settings, report=problems.append)
    return {"global_items": tuple(items_for_all(workspace)), "health": "\n".join(problems) or None}


def with_enforcement(known: RestoreInput, *, is_enforced: bool) -> RestoreInput:
    """Return what is known as the session's host enforces it. Hosts without our hook before a tool enforce nothing."""
    return known if is_enforced else known.replace(items=tuple(map(unenforced, known.items)))


def _paged_out(archive: Archive, shown: list[LedgerItem]) -> tuple[str, ...]:
    """Return the refs of active items that a restore does not show."""
    refs = {item.alias for item in shown}
    return tuple(ref for ref in paged_out_refs(archive) if ref not in refs)


def _work_of(archive: Archive, session: int | None) -> dict[str, Any]:
    """Return the work of a session, or else the work that the user set outside of any session."""
    work = read_work(archive, session) if session is not None else {}
    local = session_number(archive, LOCAL_SESSION)
    return work if work.get("workItem") or local is None else read_work(archive, local)


def _by_others(archive: Archive, session: int | None, since: int | None, items: list[LedgerItem]) -> list[LedgerItem]:
    """Return the items that other sessions recorded or changed since a time."""
    own, after = session_id_of(archive, session), to_text(since or 0)
    return [item for item in items if item.session_id != own and max(item.created_at, item.changed_at or "") > after]


def _last_compaction(archive: Archive, session: int | None) -> dict[str, Any]:
    """Return the newest compaction of a session, its summary, and the verdicts on the summary if it was judged."""
    found = latest_compaction(archive, session) if session is not None else None
    if found is None:
        return {}
    survived = find_survival(archive, found.id) if found.summary else None
    return {"compaction": found.id, "summary": found.summary, "survival": survived.survival if survived else None}


def _conversation(archive: Archive, session: int | None, place: Place, reason: Reason) -> dict[str, Any]:
    """Return what was typed and done in a session, its working set, and git as it is now.

    For a prompt, the parts that the newest compaction left in the conversation are left out.
    """
    if session is None:
        return {}
    found = latest_compaction(archive, session) if reason == "prompt" else None
    kept_at = found.kept_at if found else None
    steps = [
        (turn, step) for turn, step in recent_steps(archive, session, _STEPS) if kept_at is None or step.at < kept_at
    ]
    root = archive.value("SELECT root FROM session WHERE id = ?", session) or ""
    by_turn: dict[int, list[Step]] = {}
    for turn, step in steps:
        by_turn.setdefault(turn, []).append(step)
    uses, opened = uses_of_turns(archive, session), opening_times(archive, by_turn)
    return {
        "prompts": tuple(_typed(archive, session, kept_at)),
        "turns": tuple(
            Turn(number, opened.get(number, found[0].at), tuple(found), uses.get(number, 0))
            for number, found in by_turn.items()
        ),
        "working_set": read_files(archive, session, root),
        "recent": recent_work(steps, root),
        **_git_now(place, root),
    }


def read_files(archive: Archive, session: int, root: str) -> tuple[WorkingFile, ...]:
    """Return the files that a session and its subagents worked with lately."""
    return session_files((step for _, step in recent_steps(archive, session, _STEPS, of_agents=True)), root)


def _typed(archive: Archive, session: int, kept_at: int | None = None, limit: int = _PROMPTS) -> Iterator[Prompt]:
    """Yield what the user typed, the oldest first."""
    for turn, step in recent_steps(archive, session, limit, (PROMPT, NOTICE), turns=limit):
        is_typed = step.kind == PROMPT or (step.kind == NOTICE and step.text.startswith(_TYPED))
        if is_typed and (kept_at is None or step.at < kept_at):
            yield Prompt(turn=turn, at=step.at, text=step.text)


def _git_now(place: Place, root: str) -> dict[str, Any]:
    """Return the state of git, if the session ran in this working tree."""
    worktree = place.repository.worktree
    if not (root and place.repository.git_dir and TreeView(worktree).is_at(root)):
        return {}
    from unified_state.project.git_state import read_git  # only after a compaction

    git = read_git(worktree, environment(), _GIT_SECONDS)
    return {} if git.error else {"git": git, "git_is_current": True}


def _end_of(archive: Archive, session: int | None, reason: Reason, worktree: str) -> dict[str, Any]:
    """Return the last prompt of the session before and its newest steps, for a session that begins anew, and the
    worktree that it ran in if it was another one.
    """
    if session is None or reason not in {"startup", "clear"}:
        return {}
    prompts = list(_typed(archive, session, limit=_LAST_PROMPTS))
    if not prompts:
        return {}
    steps = recent_steps(archive, session, _LAST_STEPS)
    texts = (Statement(turn=turn, at=step.at, text=step.text) for turn, step in reversed(steps) if step.kind == TEXT)
    ran_in = archive.value("SELECT coalesce(worktree, root) FROM session WHERE id = ?", session)
    return {
        "prompts": (prompts[-1],),
        "recent": RecentWork(texts=tuple(texts)),
        "ran_in": ran_in if ran_in and not lies_in(ran_in, worktree) else "",
    }
