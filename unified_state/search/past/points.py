"""Points in time as people name them: a compaction, a turn, a date, a commit."""

from __future__ import annotations

import time

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError
from unified_state.lib.record import Record
from unified_state.lib.text import cut, one_line
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.model.refs import COMPACTION, TURN, kind_of, parse_ref
from unified_state.project.find_repository import Repository, is_object_id
from unified_state.project.git_command import GitPythonProcesses, run_git
from unified_state.search.rules.query_dates import begin_of
from unified_state.settings import environment

NOW = "now"
_SECONDS = 10.0  # for git
_SECOND = 999  # milliseconds: git counts in seconds, and what was recorded in the same one came before the commit
_SHOWN = 60  # characters of a name in a message


class Point(Record):
    """A time in milliseconds, with the words that named it, and the commit if they named one."""

    name: str
    at: int
    commit: str | None = None

    @property
    def text(self) -> str:
        """The point for a person, to the second and in UTC."""
        of_commit = f" (commit {self.commit[:8]})" if self.commit else ""
        return f"{to_text(self.at)[:19]}Z{of_commit or (f' ({self.name})' if self.name[:1] in 'KTkt' else '')}"

    def as_json(self) -> dict[str, str | None]:
        """The point for a program."""
        return {"name": self.name, "at": to_text(self.at), "commit": self.commit}


def find_point(archive: Archive, repository: Repository, name: str, now: int) -> Point:
    """Return the point that a name means: `K2`, `T41`, `2026-03-14`, `3d`, `yesterday`, `HEAD~3`, `v1.2`, `1a2b3c4`.

    A compaction counts from its begin, a turn from its prompt, and a commit from when it was committed. Raises
    NotFoundError.
    """
    at = now if name == NOW else _of_archive(archive, name) or to_milliseconds(name) or begin_of(name, now)
    if at is not None:
        return Point(name, at)
    found = _of_commit(repository, name)
    if found is not None:
        return Point(name, found[1] + _SECOND, found[0])
    message = f"{cut(one_line(name), _SHOWN)!r} is no compaction, no time and no commit here"
    hint = "say K2, T41, 2026-03-14, 2026-03-14T09:26 (UTC), 3d, yesterday, HEAD~3, a branch, a tag, or a commit's id"
    raise NotFoundError(message, hint)


def _of_archive(archive: Archive, name: str) -> int | None:
    """Return when a compaction or a turn began."""
    began = {COMPACTION: "started_at FROM compaction", TURN: "at FROM turn"}.get(kind_of(name) or "")
    return None if began is None else archive.value(f"SELECT {began} WHERE id = ?", parse_ref(name)[1])


def _of_commit(repository: Repository, name: str) -> tuple[str, int] | None:
    """Return the id of a commit and when it was committed."""
    if repository.git_dir is None or not name.isprintable() or ".." in name:
        return None
    question = ("--no-replace-objects", "rev-list", "--max-count=1", "--timestamp", "--end-of-options", name, "--")
    end = time.monotonic() + _SECONDS
    told = run_git(repository.worktree, question, environment(), end, start=GitPythonProcesses)
    at, _, commit = (told or "").strip().partition(" ")
    return (commit, int(at) * 1000) if at.isdigit() and is_object_id(commit) else None
