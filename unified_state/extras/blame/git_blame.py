"""The commit of each line of a file, as `git blame` finds it. Nothing that the repository brings along is run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

from unified_state.lib.processes import Excerpt, Program
from unified_state.lib.record import Record
from unified_state.project.git_command import GitNotCalledError, GitPythonProcesses, prepare_git, what_failed
from unified_state.settings import environment

SECONDS = 60.0  # a file with a very long history
_MOST_OUTPUT = 64 << 20  # bytes
# Replaced commits are not shown, and no program makes a text of a binary file.
_GIT = ("--no-replace-objects", "-c", "mailmap.file=", "-c", "log.mailmap=false", "-c", "log.showSignature=false")
_BLAME = (*_GIT, "blame", "--porcelain", "--no-textconv", "--root")
_NAMES = (
    *_GIT, "show", "--format=", "--name-only", "-z", "--diff-filter=d", "--find-renames", "--no-textconv",
    "--no-ext-diff", "--first-parent", "-m", "--end-of-options",
)  # fmt: skip


class Commit(Record):
    """A commit: its id, when and by whom it was written, when it was committed (milliseconds), and its first line."""

    id: str
    at: int
    committed_at: int
    author: str
    subject: str


class LineCommits(Record):
    """The commit of each line, None where it is not committed; the paths that the file has and had; the lines, as git
    reads them; and why nothing is known of commits, or "".
    """

    commits: list[Commit | None]
    paths: frozenset[str]
    lines: Sequence[str] = ()
    problem: str = ""


def blame_file(worktree: str, path: str, count: int, lines: tuple[int, int] | None = None) -> LineCommits:
    """Return the commits of the `count` lines of a file in the worktree, or only of a range (first, last) of them."""
    commits: list[Commit | None] = [None] * count
    if count == 0:
        return LineCommits(commits, frozenset({path}))
    limits = [] if lines is None else ["-L", f"{lines[0]},{min(lines[1], count)}"]
    output, problem = _ask(worktree, *_BLAME, *limits, "--", path)
    paths = {path}
    for number, commit, name, _ in [] if problem else _blamed(output):
        if number < count:
            commits[number] = commit
            paths |= {name} if commit else set()
    return LineCommits(commits, frozenset(paths), problem=problem)


def files_of_commit(worktree: str, commit: str) -> tuple[list[str], str]:
    """Return the files that a commit added or changed, and why they are not known, or ""."""
    output, problem = _ask(worktree, *_NAMES, commit, "--")
    return [os.fsdecode(name) for name in output.strip(b"\0\n").split(b"\0") if name], problem


def blame_in_commit(worktree: str, path: str, commit: str) -> LineCommits:
    """Return the lines of a file in a commit. Those that an earlier commit wrote have no commit."""
    output, problem = _ask(worktree, *_BLAME, "--first-parent", f"{commit}^!", "--", path)
    found = [] if problem else list(_blamed(output))
    commits = [one if one and one.id.startswith(commit) else None for _, one, _, _ in found]
    return LineCommits(commits, frozenset({path, *(one[2] for one in found)}), [one[3] for one in found], problem)


def _ask(worktree: str, *question: str) -> tuple[bytes, str]:
    """Return the answer of git, and why there is none, or ""."""
    answer = Excerpt(_MOST_OUTPUT)
    try:
        git = prepare_git(worktree, environment(), start=GitPythonProcesses)
        asked = Program("git blame", git.arguments(*question), answer)
        GitPythonProcesses([asked], git.environment).finish(time.monotonic() + SECONDS)
    except (GitNotCalledError, OSError, ValueError) as error:
        return b"", str(error) or "git cannot be called"
    return answer.content, what_failed(asked, SECONDS)


def _blamed(output: bytes) -> Iterator[tuple[int, Commit | None, str, str]]:
    """Yield for each line its number from 0, its commit, the path in it, and its text, from what `--porcelain` prints:
    a line `COMMIT LINE NUMBER`, fields where they are new, and the text behind a tab.
    """
    known: dict[str, Commit | None] = {}
    names: dict[str, str] = {}
    fields: dict[str, str] = {}
    commit, number = "", 0
    for line in output.split(b"\n"):
        name, _, value = line.partition(b" ")
        if line.startswith(b"\t"):
            if commit not in known:
                known[commit] = _commit(commit, fields)
            yield number, known[commit], names[commit], line[1:].decode("utf-8", "surrogateescape")
            commit, fields = "", {}
        elif line and not commit:
            commit, number = name.decode(), int(value.split(b" ")[1]) - 1
        elif name == b"filename":
            names[commit] = os.fsdecode(value)
        else:
            fields[name.decode()] = value.decode("utf-8", "replace")


def _commit(commit: str, fields: dict[str, str]) -> Commit | None:
    """Return the commit of some fields; None for what is not committed, whose id has only zeros."""
    if not commit.strip("0"):
        return None
    at, committed_at = (int(fields.get(name, "0") or 0) * 1000 for name in ("author-time", "committer-time"))
    return Commit(commit, at, max(at, committed_at), fields.get("author", ""), fields.get("summary", ""))
