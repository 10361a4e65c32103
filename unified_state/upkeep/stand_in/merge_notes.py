"""What a journal tells beside its history, taken over by the archive it is merged into: work, notes, saves."""

from __future__ import annotations

from unified_state.lib.stdlib import parse_json
from unified_state.memory.archive.sessions import LOCAL_SESSION, change_work, read_work, touch_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive


def take_notes(archive: Archive, source: Archive) -> None:
    """Take over what the source tells and the archive does not know yet."""
    with archive.transaction():
        for session in source.rows("SELECT session_id, coalesce(seen_at, 0), worktree, pid, work FROM session"):
            _take_work(archive, *session)
        for note in source.rows(
            "SELECT session_id, kind, text, at, done_at, key, state FROM note "
            "LEFT JOIN session ON session.id = session ORDER BY note.id"
        ):
            _take_note(archive, *note)
        for saved in source.rows("SELECT * FROM saved"):
            archive.run(
                "INSERT INTO saved VALUES (?, ?, ?, ?) ON CONFLICT (state_path) DO UPDATE SET at = excluded.at, "
                "trigger = excluded.trigger, git = excluded.git WHERE excluded.at > at",
                *saved,
            )


def _take_work(archive: Archive, session_id: str, seen_at: int, worktree: str, pid: int, told: str | None) -> None:
    number = touch_session(archive, session_id, seen_at, worktree=worktree, pid=pid)
    changes: dict[str, Any] = {name: value for name, value in (parse_json(told) if told else {}).items() if value}
    if changes and (session_id != LOCAL_SESSION or changes.get("workItem")):
        work = {**read_work(archive, number).get("workItem", {}), **(changes.get("workItem") or {})}
        change_work(archive, number, {**changes, **({"workItem": work} if work else {})})


def _take_note(archive: Archive, owner: str | None, kind: str, text: str, at: str, *more: Any) -> None:
    """A note, once. Notes of no session stood in the state file, and an agent's list in its transcript: the archive may
    have these with another time.
    """
    done_at, key, state = more
    archive.run(
        "INSERT INTO note (session, kind, text, at, done_at, key, state) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 "
        "WHERE NOT EXISTS (SELECT 1 FROM note WHERE kind = ?2 AND text = ?3 AND (at = ?4 OR ?8))",
        touch_session(archive, owner, 0) if owner else None,
        kind,
        text,
        at,
        done_at,
        key,
        state,
        owner is None or key is not None,
    )
