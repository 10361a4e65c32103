"""The commit of each line of a file, as `git blame` finds it. Nothing that the repository brings along is run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from unified_state.lib.processes import Program, Reader
from unified_state.lib.record import Record
from unified_state.project.git_command import GitNotCalledError, GitPythonProcesses, prepare_git
from unified_state.settings import environment

SECONDS = 60.0  # a file with a very long history
_MOST_OUTPUT = 200 << 20  # bytes
# Replaced commits are not shown, and no program makes a text of a binary file.
_QUESTION = (
    "--no-replace-objects", "-c", "mailmap.file=", "-c", "log.mailmap=false",
    "blame", "--incremental", "--no-textconv", "--root",
)  # fmt: skip


class Commit(Record):
    """A commit: its id, when and by whom it was written, when it was committed (milliseconds), and its first line."""

    id: str
    at: int
    committed_at: int
    author: str
    subject: str


class LineCommits(Record):
    """The commit of each line, None where it is not committed; the paths that the file has and had; and why nothing is
    known of commits, or "".
    """

    commits: list[Commit | None]
    paths: frozenset[str]
    problem: str = ""


def blame_file(
    worktree: str, path: str, count: int, lines: tuple[int, int] | None = None, *, at: str | None = None
) -> LineCommits:
    """Return the commits of the `count` lines of a file, or only of a range (first, last) of them: of the file in the
    worktree, or `at` a commit.
    """
    nothing = LineCommits([None] * count, frozenset({path}))
    if count == 0:
        return nothing
    reader = _Groups(count)
    limits = [] if lines is None else ["-L", f"{lines[0]},{min(lines[1], count)}"]
    limits += [] if at is None else [at]
    problem = _asked(worktree, (*_QUESTION, *limits, "--", path), reader, converts=True)
    return (
        nothing.replace(problem=problem) if problem else LineCommits(reader.commits, frozenset({path, *reader.names}))
    )


def lines_of_commit(worktree: str, commit: str, most: int) -> dict[str, list[tuple[int, int]]] | str:
    """Return the ranges of lines (first, last) that a commit added, by file, or why that is not known."""
    reader = _Everything(most)
    question = (
        "--no-replace-objects", "-c", "mailmap.file=", "-c", "log.showSignature=false", "show", "--no-textconv",
        "--no-ext-diff", "--unified=0", "--format=", "--find-renames", "--no-color", "--src-prefix=a/",
        "--dst-prefix=b/", "--submodule=short", "--first-parent", "-m", "--end-of-options", commit, "--",
    )  # fmt: skip
    return _asked(worktree, question, reader).split("\n")[0] or _added(reader.content)


def file_at(worktree: str, commit: str, path: str, most: int) -> bytes | None:
    """Return the content of a file at a commit; None if it is not there or has more than `most` bytes."""
    reader = _Everything(most + 1)
    problem = _asked(worktree, ("--no-replace-objects", "cat-file", "blob", f"{commit}:{path}"), reader)
    return None if problem or len(reader.content) > most else reader.content


def _asked(worktree: str, question: Sequence[str], reader: Reader, *, converts: bool = False) -> str:
    """Ask git, and return why there is no answer, or "". `converts` says that it reads files of the worktree."""
    try:
        git = prepare_git(worktree, environment(), converts=converts, start=GitPythonProcesses)
        asked = Program("git", git.arguments(*question), reader)
        GitPythonProcesses([asked], git.environment).finish(time.monotonic() + SECONDS)
    except (GitNotCalledError, OSError, ValueError) as error:
        return str(error) or "git cannot be called"
    if asked.exit_code is None:
        return f"git blame was stopped after {SECONDS:g} s"
    said = asked.complaint.content.decode("utf-8", "replace").strip().removeprefix("fatal: ")
    return "" if asked.exit_code == 0 else said or "git failed"


def _added(diff: bytes) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    path = ""
    left = 0  # lines of the hunk that are still to come, which may look like headers
    for line in diff.split(b"\n"):
        if left:
            left -= line[:1] in {b"+", b"-"}
        elif line.startswith(b"+++ "):
            path = os.fsdecode(line[4:].removeprefix(b"b/").rstrip(b"\t")) if line != b"+++ /dev/null" else ""
        elif line.startswith(b"@@ -") and path:
            old, new = line.split(b" ")[1:3]
            removed = int((old.partition(b",")[2] or b"1").decode())
            first, _, count = new[1:].partition(b",")
            added = int(count or b"1")
            left = removed + added
            if added:
                found.setdefault(path, []).append((int(first), int(first) + added - 1))
    return found


class _Everything:
    """A reader that stores an output up to a limit, without copying it at each piece."""

    def __init__(self, most: int) -> None:
        self._pieces: list[bytes] = []
        self._left = most

    @property
    def content(self) -> bytes:
        return b"".join(self._pieces)

    def feed(self, piece: bytes) -> None:
        self._pieces.append(piece[: self._left])
        self._left -= len(self._pieces[-1])


class _Groups:
    """A reader of `git blame --incremental`: groups of lines, each with its commit."""

    def __init__(self, count: int) -> None:
        self.commits: list[Commit | None] = [None] * count
        self.names: set[str] = set()
        self._known: dict[str, Commit | None] = {}
        self._fields: dict[str, str] = {}
        self._group: tuple[str, int, int] | None = None
        self._rest = b""
        self._left = _MOST_OUTPUT

    def feed(self, piece: bytes) -> None:
        self._left -= len(piece)
        if self._left < 0:
            return
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._take(line)

    def _take(self, line: bytes) -> None:
        if self._group is None:
            name, _, begin, length = line.decode("ascii", "replace").split(" ")
            self._group, self._fields = (name, int(begin), int(length)), {}
            return
        field, _, value = line.partition(b" ")
        if field != b"filename":
            self._fields[field.decode("ascii", "replace")] = value.decode("utf-8", "replace")
            return
        commit, first, count = self._group  # the lines are counted from 1
        if commit not in self._known:
            self._known[commit] = None if set(commit) == {"0"} else _commit(commit, self._fields)
        if self._known[commit] is not None:
            self.names.add(os.fsdecode(_unquoted(value)))
        last = min(first - 1 + count, len(self.commits))
        self.commits[first - 1 : last] = [self._known[commit]] * (last - first + 1)
        self._group = None


def _commit(commit: str, fields: dict[str, str]) -> Commit:
    at, committed_at = (int(fields.get(name, "0") or 0) * 1000 for name in ("author-time", "committer-time"))
    return Commit(commit, at, max(at, committed_at), fields.get("author", ""), fields.get("summary", ""))


def _unquoted(name: bytes) -> bytes:
    """Return a name without git's quotes, which stand where it has control characters."""
    if not name.startswith(b'"'):
        return name
    return name[1:-1].decode("unicode_escape", "replace").encode("latin-1", "replace")
