"""Blame: the commit and the turn of each line of a file, with what was asked, decided and tested in that turn."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import KIND_NUMBERS
from unified_state.capture.rules.failed_calls import is_check
from unified_state.errors import NotFoundError, UsageError
from unified_state.extras.blame.edits_of_file import edits_of_file
from unified_state.extras.blame.git_blame import Commit, LineCommits, blame_file, blame_in_commit, files_of_commit
from unified_state.extras.blame.undo_edits import certain_lines, split_lines, writers_of
from unified_state.hosts.transcripts.rules.call_effects import read_call
from unified_state.ledger.item_table import selected_items
from unified_state.ledger.rules.item_lines import item_line
from unified_state.lib.read_files import read_regular
from unified_state.lib.record import Record
from unified_state.lib.text import cut, one_line, unpack
from unified_state.lib.times import to_text
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION
from unified_state.model.step import PROMPT, TOOL_CALL, TOOL_RESULT, Step
from unified_state.project.workspace.workspace import Workspace

_LARGEST = 50 << 20  # bytes of a file
_LOOKED_AT = 8_000  # bytes in which git, too, looks for a NUL
_PROMPT, _ITEM, _COMMAND = 300, 200, 200  # characters
_MOST_ITEMS, _MOST_TESTS = 8, 3
_MOST_CALLS = 200  # of a turn, behind its last edit, among which tests are looked for
_MOST_FILES = 200  # of one commit
_COMMIT = re.compile("[0-9a-f]{7,64}")
_RECORDED = (DECISION, CONSTRAINT, ATTEMPT)


class Turn(Record):
    """A turn that wrote lines: what asked for it, the items recorded in it, and the tests run after the edits."""

    ref: str
    session_id: str
    at: str
    prompt: str
    recorded: list[str]
    tests: list[str]


class Group(Record):
    """Consecutive lines of one commit and one edit. `step` and `turn` are None if no archived edit wrote them."""

    first: int
    last: int
    commit: Commit | None
    step: str | None = None
    turn: str | None = None
    is_certain: bool = False


class Blame(Record):
    """The groups of a file's lines, the turns in them by their refs, and why nothing is known of commits, or ""."""

    path: str
    groups: list[Group]
    turns: dict[str, Turn]
    problem: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "file": self.path,
            "lines": [_group_dict(group) for group in self.groups],
            "turns": [vars(turn) for turn in self.turns.values()],
            **({"problem": self.problem} if self.problem else {}),
        }


def blame(workspace: Workspace, path: str, lines: tuple[int, int] | None = None) -> Blame:
    """Return who wrote the lines of a file, or a range (first, last) of them.

    Raises NotFoundError without the file or the range, and UsageError for a file outside the worktree, or one that is
    binary or too large.
    """
    worktree = workspace.place.repository.worktree
    name = _inside(worktree, path)
    found = split_lines(_text(os.path.join(worktree, name), name))
    first, last = _range(name, len(found), lines)
    blamed = blame_file(worktree, name, len(found), lines)
    return workspace.use(lambda archive: _joined(archive, worktree, name, found, blamed, range(first - 1, last)))


def blame_place(workspace: Workspace, place: str) -> list[Blame]:
    """Return who wrote a place: `FILE`, `FILE:12`, `FILE:12-20`, or by file the lines that a commit added, by its id.

    A file whose name looks like one of these counts as a file. Raises as `blame` and `blame_commit` do.
    """
    path, colon, numbers = place.rpartition(":")
    if os.path.lexists(place):
        return [blame(workspace, place)]
    if colon and numbers[:1].isdecimal():
        return [blame(workspace, path, parse_lines(numbers))]
    if _COMMIT.fullmatch(place):
        return blame_commit(workspace, place)
    return [blame(workspace, place)]


def turns_that_wrote(workspace: Workspace, place: str) -> tuple[int, ...]:
    """Return the turns whose edits wrote a place. Raises as `blame_place` does."""
    return tuple(sorted({int(ref[1:]) for found in blame_place(workspace, place) for ref in found.turns}))


def parse_lines(text: str) -> tuple[int, int]:
    """Return the first and the last line of `12-20` or `12`. Raises UsageError."""
    first, _, last = text.partition("-")
    if first.isdecimal() and (last or first).isdecimal():
        lines = (int(first), int(last or first))
        if 1 <= lines[0] <= lines[1]:
            return lines
    message = f"{text[:60]!r} is no range of lines"
    raise UsageError(message, "say 12 or 12-20; lines are counted from 1")


def blame_commit(workspace: Workspace, commit: str) -> list[Blame]:
    """Return who wrote the lines that a commit added, by file. Raises NotFoundError for an unknown commit."""
    worktree = workspace.place.repository.worktree
    names, problem = files_of_commit(worktree, commit)
    if problem:
        message = f"commit {commit[:60]} cannot be shown: {problem}"
        raise NotFoundError(message, "`git log` lists commits")

    def action(archive: Archive) -> Iterator[Blame]:
        for name in names[:_MOST_FILES]:
            blamed = blame_in_commit(worktree, name, commit)
            added = [number for number, one in enumerate(blamed.commits) if one is not None]
            if added and not any("\0" in line for line in blamed.lines):
                yield _joined(archive, worktree, name, blamed.lines, blamed, added)

    return workspace.use(lambda archive: list(action(archive)))


def _inside(worktree: str, path: str) -> str:
    """Return the path relative to the worktree, with slashes."""
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))  # not of the file: a link is a file of its own
    name = os.path.relpath(os.path.join(folder, os.path.basename(path)), worktree).replace(os.sep, "/")
    if name.startswith("../") or name == ".." or os.path.isabs(name):
        message = f"{path[:200]} is outside {worktree}"
        raise UsageError(message, "name a file of this repository, or change to the folder of the other one")
    return name


def _text(path: str, name: str) -> str:
    try:
        content = read_regular(path, _LARGEST)
    except FileNotFoundError as error:
        message = f"there is no file {name[:200]}"
        raise NotFoundError(
            message, "of a deleted file, `unified-state blame COMMIT` shows what a commit wrote"
        ) from error
    except (OSError, ValueError) as error:
        message = f"{name[:200]} cannot be read: {error.strerror if isinstance(error, OSError) else error}"
        raise UsageError(message, "name a regular file with text") from error
    if b"\0" in content[:_LOOKED_AT]:
        message = f"{name[:200]} is a binary file"
        raise UsageError(message, "it has no lines; name a file with text")
    return content.decode("utf-8", "surrogateescape")


def _range(name: str, count: int, lines: tuple[int, int] | None) -> tuple[int, int]:
    if lines is None:
        return 1, count
    if lines[0] > count:
        message = f"{name[:200]} has {count:,} lines, and no line {lines[0]:,}"
        raise NotFoundError(message, "lines are counted from 1")
    return lines[0], min(lines[1], count)


def _joined(
    archive: Archive, worktree: str, name: str, lines: Sequence[str], blamed: LineCommits, numbers: Sequence[int]
) -> Blame:
    edits = edits_of_file(archive, worktree, blamed.paths)
    times = [None if commit is None else commit.committed_at for commit in blamed.commits]
    writers = writers_of(lines, edits, times)
    certain = certain_lines(lines, writers, edits)
    steps = {number: edit.step for number in numbers if (edit := writers[number]) is not None}
    wanted = ", ".join(map(str, set(steps.values())))
    turns = dict(archive.rows(f"SELECT id, turn FROM step WHERE id IN ({wanted}) ORDER BY id"))

    def writer(number: int) -> tuple[Commit | None, int | None, bool]:
        return blamed.commits[number], steps.get(number), certain[number]

    groups = []
    for (_, commit, step, is_certain), run in groupby(
        enumerate(numbers), lambda one: (one[1] - one[0], *writer(one[1]))
    ):
        found = [number + 1 for _, number in run]
        turn = None if step is None else f"T{turns[step]}"
        ref = None if step is None else f"S{step}"
        groups.append(Group(found[0], found[-1], commit, ref, turn, is_certain))
    last_edits = {turn: step for step, turn in turns.items()}
    told = {f"T{turn}": _turn(archive, turn, step) for turn, step in sorted(last_edits.items())}
    return Blame(name, groups, told, blamed.problem)


def _turn(archive: Archive, number: int, last_edit: int) -> Turn:
    session_id, at, end = archive.row(
        "SELECT session_id, at, (SELECT min(later.at) FROM turn AS later WHERE later.session = turn.session "
        "AND later.agent IS turn.agent AND later.id > turn.id) "
        "FROM turn JOIN session ON session.id = session WHERE turn.id = ?",
        number,
    )
    items = selected_items(
        archive,
        f"WHERE session_id = ? AND kind IN ({', '.join('?' * len(_RECORDED))}) AND created_at >= ? AND created_at < ? "
        "ORDER BY id LIMIT ?",
        session_id,
        *_RECORDED,
        to_text(at),
        "9999" if end is None else to_text(end),
        _MOST_ITEMS,
    )
    return Turn(
        f"T{number}",
        session_id,
        to_text(at),
        _prompt(archive, number),
        [item_line(item, _ITEM) for item in items],
        _tests(archive, number, last_edit),
    )


def _prompt(archive: Archive, turn: int) -> str:
    body = archive.value(
        "SELECT body FROM step WHERE turn = ? AND kind = ? ORDER BY id LIMIT 1", turn, KIND_NUMBERS[PROMPT]
    )
    return cut(one_line(unpack(body)), _PROMPT)


def _tests(archive: Archive, turn: int, last_edit: int) -> list[str]:
    """Return the checks that a turn ran after its last edit, each with its outcome."""
    rows = archive.rows(
        "SELECT body, tool, (SELECT coalesce(is_error, 0) FROM step AS result WHERE result.turn = step.turn "
        "AND result.tool_use_id = step.tool_use_id AND result.kind = ?) "
        "FROM step WHERE turn = ? AND id > ? AND kind = ? ORDER BY id LIMIT ?",
        KIND_NUMBERS[TOOL_RESULT],
        turn,
        last_edit,
        KIND_NUMBERS[TOOL_CALL],
        _MOST_CALLS,
    )
    tests = []
    for body, tool, is_error in rows:
        command = read_call(Step("", 0, TOOL_CALL, 0, unpack(body), tool=tool)).command
        if command and is_check(command):
            outcome = "no result" if is_error is None else "failed" if is_error else "passed"
            tests.append(f"{cut(one_line(command), _COMMAND)}: {outcome}")
    return tests[:_MOST_TESTS]


def _group_dict(group: Group) -> dict[str, Any]:
    commit = group.commit
    return {
        "first": group.first,
        "last": group.last,
        "commit": commit
        and {"id": commit.id, "at": to_text(commit.at), "author": commit.author, "subject": commit.subject},
        "turn": group.turn,
        "step": group.step,
        "certain": group.is_certain,
    }
