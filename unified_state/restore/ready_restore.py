"""A restore that is composed before its session start asks for it: after a compaction, and at the end of a turn.

The client sends the summary shortly before SessionStart, for which the user waits and which two hooks serve. So the
texts are composed and recorded with the summary, beside the state that they were made from. SessionStart prints them
if that state is still the present one. Otherwise they are composed anew.

At the end of a turn the texts of the other starts are composed, and kept by the caller alone: which session gets them
is not known yet. They are kept in pieces, because their ages and their nonce are those of the moment of printing.
"""

from __future__ import annotations

import os
from zlib import crc32

from unified_state.capture.survival_table import tell_once
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import unpack
from unified_state.memory.archive.sessions import LOCAL_SESSION
from unified_state.memory.archive.text_columns import FORGOTTEN
from unified_state.memory.repository.find_repository import read_head
from unified_state.model.hook_event import BRIEF, PARTS
from unified_state.restore.fenced_text import fence, remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypedDict

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.find_repository import Repository
    from unified_state.memory.repository.place import Place
    from unified_state.model.known import Known, Reason
    from unified_state.restore.rules.text_pieces import Pieces
    from unified_state.settings import Settings

    Starts = dict[str, tuple[Pieces, str]]

    class Ready(TypedDict):
        """A restore in its fences, the line for the user, the compaction."""

        compaction: int
        texts: dict[str, str]
        line: str


_READY = "ready restore"  # the name of the value in the archive
_STARTS: tuple[Reason, ...] = ("startup", "resume", "clear")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_NONCE = 6  # bytes
# What a restore says changes with one of these: the compaction, the session's newest step, the notes, the last save,
# the work, the items.
_ROWS = (
    "SELECT (SELECT max(id) FROM compaction WHERE session = ?1), "
    "(SELECT max(id) FROM step WHERE turn = (SELECT max(id) FROM turn WHERE session = ?1 AND agent IS NULL)), "
    "(SELECT max(id) FROM note), (SELECT count(done_at) FROM note), (SELECT max(at) FROM saved), "
    "(SELECT group_concat(work) FROM session WHERE id = ?1 OR session_id = ?2), "
    "(SELECT group_concat(id || status || coalesce(changed_at, '')) FROM item)"
)


def make_ready(
    archive: Archive, place: Place, settings: Settings, session: int, now: int, *, is_enforced: bool
) -> Ready:
    """Compose the restore of a session after its compaction, record it, and return it."""
    from unified_state.restore.compose_restore import gather, restored_text, with_enforcement
    from unified_state.restore.note_survival import keep_told

    for part in PARTS:
        drop_ready(archive, session, part)  # of an earlier summary
    state = _state(archive, place.repository, session, settings)
    known = with_enforcement(gather(archive, place, session, "compact", now), is_enforced=is_enforced)
    texts = restored_text(known, settings).as_dict()
    nonces = {
        part: remember(archive, session, part, text, now, known.compaction) for part, text in texts.items() if text
    }
    with archive.transaction(durable=False):
        line = keep_told(archive, known, texts[BRIEF])
        archive.set_meta(_READY, dump_json({"compaction": known.compaction, "state": state, **nonces, "line": line}))
    fences = {part: fence(part, nonces[part], text) if text else "" for part, text in texts.items()}
    return {"compaction": known.compaction or 0, "texts": fences, "line": line}


def ready_restore(
    archive: Archive, place: Place, settings: Settings, session: int, part: str, now: int
) -> tuple[str, str] | None:
    """Return a part of the restore in its fence, and the line for the user, which is "" after the first time.

    Return None if nothing was made ready, or if something changed since then.
    """
    kept = _kept(archive)
    if not kept or kept.get("state") != _state(archive, place.repository, session, settings):
        return None
    nonce, line = str(kept.get(part) or ""), str(kept.get("line") or "") if part == BRIEF else ""
    text = unpack(archive.value("SELECT body FROM restore WHERE nonce = ?", nonce)) if nonce else ""
    if nonce and text in ("", FORGOTTEN):
        return None
    if line:
        with archive.transaction(durable=False):
            line = line if tell_once(archive, kept["compaction"], now) else ""
    return fence(part, nonce, text) if text else "", line


def drop_ready(archive: Archive, session: int, part: str) -> None:
    """Delete a part that was made ready for the newest compaction of a session: another text takes its place."""
    kept = _kept(archive)
    newest = archive.value("SELECT max(id) FROM compaction WHERE session = ?", session)
    if newest is not None and kept.get("compaction") == newest:
        with archive.transaction(durable=False):
            archive.run("DELETE FROM restore WHERE nonce = ? AND delivered_at IS NULL", kept.get(part))


def _kept(archive: Archive) -> dict[str, Any]:
    """Return what `make_ready` recorded: the compaction, the state, the nonce of each part, the line for the user."""
    try:
        kept = parse_json(archive.meta(_READY) or "{}")
    except ValueError:  # damaged, so the restore is composed anew
        return {}
    return kept if isinstance(kept, dict) else {}


def _state(archive: Archive, repository: Repository, session: int, settings: Settings) -> str:
    """Return the checksum of what a restore is made from: the rows, the commit, the index, the budget."""
    git_dir = repository.git_dir or repository.worktree
    try:
        staged_at = os.stat(os.path.join(git_dir, "index")).st_mtime_ns
    except OSError:  # nothing was ever staged
        staged_at = 0
    rows = archive.row(_ROWS, session, LOCAL_SESSION)
    state = f"{rows} {read_head(repository)[0]} {staged_at} {settings.restore_tokens}"
    return f"{crc32(state.encode('utf-8', 'replace')):08x}"


def ready_starts(
    archive: Archive, place: Place, settings: Settings, session: int, now: int
) -> tuple[Starts, tuple[str, ...]]:
    """Return the pieces of each start's text with the line for the user, and the files that were looked at.

    `session` is the newest one: a new session gets its state, and it is the one that is resumed or cleared.
    """
    from unified_state.memory.archive.steps import last_entry_at
    from unified_state.memory.working_tree.tree_view import is_inside, timed_view
    from unified_state.restore.compose_restore import gather
    from unified_state.restore.tell_inbox import waiting_line

    view = timed_view(place.repository.worktree)
    since, line = last_entry_at(archive, session), waiting_line(archive)
    starts: Starts = {}
    looked_at: set[str] = set()
    for reason in _STARTS:
        if reason == "clear" and settings.restore_on_clear == "full":
            continue  # both handlers have a part then
        known = gather(archive, place, session, reason, now, since=since, view=view)
        named = (path for item in (*known.items, *known.said) for path in item.file_hashes)
        looked_at.update(filter(is_inside, named))
        starts[reason] = (_pieces(known, settings), line)
    looked_at |= view.looked_at
    return starts, tuple(os.path.join(place.repository.worktree, path) for path in sorted(looked_at))


def _pieces(known: Known, settings: Settings) -> Pieces:
    """Return a start's text in its fence, in pieces; none where it gets no text. A mark has the length of its age, so
    that the same lines fit.
    """
    from unified_state.restore.compose_restore import restored_text
    from unified_state.restore.rules.text_pieces import in_pieces

    marks = {at: _mark(len(known.age(at))) for at in _times(known)}
    text = restored_text(known.replace(age_marks=marks), settings).brief
    nonce = os.urandom(_NONCE).hex()
    values: dict[str, int | None] = {nonce: None, **{mark: at for at, mark in marks.items()}}
    return in_pieces(fence(BRIEF, nonce, text), values) if text else []


def _times(known: Known) -> Iterable[int]:
    """Return the times whose ages the text may show."""
    times = (known.saved_at, known.last_turn_at, *(turn.at for turn in known.turns))
    return (at for at in times if at is not None)


def _mark(length: int) -> str:
    """Return letters that no recorded text has."""
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(length))
