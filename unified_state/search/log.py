"""The log: what was asked, turn by turn or session by session, the newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import KIND_NUMBERS
from unified_state.errors import UnifiedStateError
from unified_state.lib.record import Record
from unified_state.lib.text import one_line, unpack
from unified_state.lib.times import to_text
from unified_state.model.step import PROMPT
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import archives_of, worktree_of
from unified_state.search.rules.query_dates import begin_of, time_named, times_of
from unified_state.search.timeline_table import session_page

_ALL = 1 << 62


class LogRequest(Record):
    """What of the log is wanted: a time in words, the part of a session's id, words that prompts have. With `is_open` a
    day has no end.
    """

    when: str | None = None
    is_open: bool = False
    session: str = ""
    words: tuple[str, ...] = ()
    limit: int = 20
    sessions: bool = False


def log(workspace: Workspace, wanted: LogRequest, now: int, *, everywhere: bool = False) -> list[dict[str, Any]]:
    """Return turns, or sessions, of this project or of all, the newest first. Raises UsageError for no time."""
    if not everywhere:
        return workspace.use(lambda archive: read_log(archive, wanted, now))
    _span(wanted, now)  # what is no time is refused once
    found = []
    for path in archives_of(workspace):
        try:
            with Archive(path) as archive:
                worktree = worktree_of(archive)
                found += [{"worktree": worktree, **entry} for entry in read_log(archive, wanted, now)]
        except UnifiedStateError as error:
            workspace.report(f"skipped: {error.message}")
    return sorted(found, key=lambda entry: str(entry["timestamp"]), reverse=True)[: wanted.limit]


def time_and_words(given: Sequence[str], now: int) -> tuple[str | None, tuple[str, ...]]:
    """Return the time at the begin of some words (`yesterday`, `last week`, `3 days ago`), and the rest of them."""
    count = 2 if given[:1] == ["last"] else 3 if given and given[0].isdecimal() else 1
    when = " ".join(given[:count])
    return (when, tuple(given[count:])) if when and begin_of(when, now) is not None else (None, tuple(given))


def _span(wanted: LogRequest, now: int) -> tuple[int, int]:
    """Return the begin and the end of a time in words: a named day ends, `3d` goes on until now."""
    when = wanted.when
    if when is None:
        return 0, _ALL
    spans = times_of(when, now).spans
    if spans and not wanted.is_open:
        return min(spans)[0], max(end for _, end in spans)
    return time_named(when, now), _ALL


def read_log(archive: Archive, wanted: LogRequest, now: int) -> list[dict[str, Any]]:
    """Return turns, or sessions, of an archive, the newest first. Raises UsageError for no time."""
    span = _span(wanted, now)
    read = _sessions(archive, span, now) if wanted.sessions else _turns(archive, span)
    words = [word.casefold() for word in wanted.words]
    found = (
        entry
        for entry in read
        if wanted.session in entry["session_id"] and all(word in entry["text"].casefold() for word in words)
    )
    return list(islice(found, wanted.limit))


def _turns(archive: Archive, span: tuple[int, int]) -> Iterator[dict[str, Any]]:
    prompt = "SELECT body FROM step WHERE step.turn = turn.id AND kind = ? ORDER BY step.id LIMIT 1"
    rows = archive.execute(
        f"SELECT turn.id, session_id, at, ({prompt}) FROM turn JOIN session ON session.id = turn.session "
        "WHERE agent IS NULL AND at >= ? AND at < ? ORDER BY at DESC, turn.id DESC",
        (KIND_NUMBERS[PROMPT], *span),
    )
    for turn, session_id, at, body in rows:
        if body is not None:  # the client's own commands have no prompt
            text = one_line(unpack(body))
            yield {"ref": f"T{turn}", "session_id": session_id, "timestamp": to_text(at), "text": text}


def _sessions(archive: Archive, span: tuple[int, int], now: int) -> Iterator[dict[str, Any]]:
    for line in session_page(archive, now, 0, _ALL):
        if line.last_at >= span[0] and line.began_at < span[1]:
            told = {"turns": line.turns, "compactions": line.compactions, "began_at": to_text(line.began_at)}
            text = line.title or one_line(line.first_prompt)
            yield {"session_id": line.session_id, "timestamp": to_text(line.last_at), **told, "text": text}
