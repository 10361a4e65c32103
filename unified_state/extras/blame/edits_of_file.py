"""The edits of a file that are in the archive, the newest first."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import any_of
from unified_state.archive.steps import KIND_NUMBERS
from unified_state.extras.blame.undo_edits import Edit
from unified_state.hosts.transcripts.rules.call_effects import Call, read_call
from unified_state.hosts.transcripts.rules.patches import hunks_of
from unified_state.lib.query import words_of
from unified_state.lib.shell.shell_commands import commands_run
from unified_state.lib.shell.shell_line import UnreadableError, program_name
from unified_state.lib.text import unpack
from unified_state.model.step import TOOL_CALL, TOOL_RESULT, Step

Body = str | bytes | None
CallRow = tuple[int, int, int, str, str | None, Body, str | None, str | None]

_MOST_CALLS = 20_000  # newest calls that name a file of this name
_COPY = ("cat", "tee")  # programs that write what they read
_CREATED = ("File created", "New file created")  # how Claude Code begins the result of a Write to a new file


def edits_of_file(archive: Archive, worktree: str, names: Iterable[str]) -> list[Edit]:
    """Return the edits of a file, the newest first, without those that failed. `names` are the paths, relative to the
    worktree, that it has and had. A path that a patch gave it later counts too.
    """
    wanted, done = set(names), set[str]()
    found: dict[tuple[int, int, int], Edit] = {}  # by time, step and place in it
    while wanted:
        name = wanted.pop()
        done.add(name)
        for row in _calls_naming(archive, os.path.basename(name)):
            number, turn, at, tool, tool_use_id, body, *roots = row
            call = read_call(Step("", 0, TOOL_CALL, at, unpack(body), tool=tool, tool_use_id=tool_use_id))
            moved = {change.path for change in call.changes if _is(name, _target(change.gone), [worktree, *roots])}
            wanted |= {_relative(path, [worktree, *roots]) for path in moved} - done
            edits = [edit for path, edit in _edits_in(call, number, at) if _is(name, path, [worktree, *roots])]
            if not edits:
                continue
            if any(edit.is_whole for edit in edits) and _created(archive, turn, tool_use_id):
                edits = [edit.replace(is_new=True) if edit.is_whole else edit for edit in edits]
            found.update({(at, number, place): edit for place, edit in enumerate(edits)})
    return [found[key] for key in sorted(found, reverse=True)]


def _calls_naming(archive: Archive, name: str) -> Iterator[CallRow]:
    """Return the calls that name a file of this name and did not fail."""
    words = words_of(name)
    if not words:
        return
    yield from archive.execute(
        "SELECT step.id, step.turn, step.at, step.tool, step.tool_use_id, step.body, session.root, "
        "session.worktree FROM step_words JOIN step ON step.id = step_words.rowid JOIN turn ON turn.id = step.turn "
        "JOIN session ON session.id = turn.session WHERE step_words MATCH ? AND step.kind = ? "
        "AND NOT EXISTS (SELECT 1 FROM step AS result WHERE result.turn = step.turn "
        "AND result.tool_use_id = step.tool_use_id AND result.kind = ? AND result.is_error) "
        "ORDER BY step_words.rowid DESC LIMIT ?",
        (any_of([" ".join(words)]), KIND_NUMBERS[TOOL_CALL], KIND_NUMBERS[TOOL_RESULT], _MOST_CALLS),
    )


def _created(archive: Archive, turn: int, tool_use_id: str | None) -> bool:
    """Return whether the result of a call says that its file is new."""
    select = "SELECT body FROM step WHERE turn = ? AND tool_use_id = ? AND kind = ?"
    return unpack(archive.value(select, turn, tool_use_id, KIND_NUMBERS[TOOL_RESULT])).startswith(_CREATED)


def _target(gone: str) -> str:
    return gone.removeprefix("moved to ") if gone.startswith("moved to ") else ""


def _is(name: str, path: str, roots: Iterable[str | None]) -> bool:
    """Return whether a path of a call is a file of the repository.

    A relative path may be below the folder of its session, which may be below the worktree.
    """
    if not path:
        return False
    inner = _relative(path, roots)
    if inner.startswith("/"):
        return inner.endswith(f"/{name}")  # of a session in another folder
    is_relative = not path.startswith("/")
    return inner == name or (is_relative and name.endswith(f"/{inner}"))


def _relative(path: str, roots: Iterable[str | None]) -> str:
    """Return a path relative to the first of the folders that it is in."""
    path = posixpath.normpath(path.replace("\\", "/"))
    for root in roots:
        folder = (root or "").replace("\\", "/").rstrip("/")
        if folder and path.startswith(f"{folder}/"):
            return path[len(folder) + 1 :]
    return path


def _edits_in(call: Call, step: int, at: int) -> Iterator[tuple[str, Edit]]:
    """Yield the path and the edit of each change of a call, in order."""
    if any(change.diff for change in call.changes):
        for change in call.changes:
            for before, after, is_new in hunks_of(change):
                yield change.path, Edit(step, at, before, after, is_whole=is_new, is_new=is_new, is_lines=True)
    elif call.changes:
        yield from ((call.path, edit) for edit in _of_fields(call.fields, step, at))
    elif "<<" in call.command:
        yield from _of_heredocs(call.command, step, at)


def _of_fields(fields: dict[str, Any], step: int, at: int) -> Iterator[Edit]:
    content = fields.get("content")
    if isinstance(content, str):
        yield Edit(step, at, "", _plain(content), is_whole=True)
        return
    several = fields.get("edits")
    for one in several if isinstance(several, list) else [fields]:
        before, after = (one.get("old_string"), one.get("new_string")) if isinstance(one, dict) else (None, None)
        if isinstance(before, str) and isinstance(after, str):
            is_all = bool(one.get("replace_all"))
            is_new = not before
            after = _plain(after)
            yield Edit(step, at, _plain(before), after, is_whole=is_new, is_new=is_new, is_everywhere=is_all)


def _of_heredocs(command: str, step: int, at: int) -> Iterator[tuple[str, Edit]]:
    """Yield the files that a shell command writes from a text in it: `cat > a.py <<'EOF'`."""
    try:
        commands = list(commands_run(command))
    except UnreadableError:
        return
    for found in commands:
        text, words = found.stdin, found.words
        if text is None or not words or program_name(words[0]) not in _COPY:
            continue
        appends = ">>" in command or "-a" in words
        for path in (*found.targets, *(word for word in words[1:] if not word.startswith("-"))):
            where = f"{found.folder}/{path}" if found.folder and not path.startswith("/") else path
            yield where, Edit(step, at, "", text, is_whole=not appends, is_lines=True)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
