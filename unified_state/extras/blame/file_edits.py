"""The edits in a tool call: the texts that it replaces and writes, by file, whichever host made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.extras.blame.rules.undo_edits import Edit
from unified_state.hosts.transcripts.rules.call_effects import Call
from unified_state.hosts.transcripts.rules.patches import hunks_of
from unified_state.lib.shell.shell_commands import commands_run
from unified_state.lib.shell.shell_line import UnreadableError, program_name

_COPY = ("cat", "tee")  # programs that write what they read


def edits_in(call: Call, step: int, at: int) -> Iterator[tuple[str, Edit]]:
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
