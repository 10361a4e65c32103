"""The sightings in a step: files with the identifiers in them.

Each step gives a few sightings of bounded size. A file that a call names has three times the weight of one that was
only read, one that was edited six times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from unified_state.hosts.transcripts.rules.call_effects import Call, is_absolute, read_by_command, taken_away
from unified_state.hosts.transcripts.rules.patches import Change, hunks_of
from unified_state.lib.identifiers import identifiers, is_file, relative_path, with_slashes
from unified_state.lib.record import Record
from unified_state.lib.text import strings_of
from unified_state.model.step import TOOL_CALL, TOOL_RESULT, Step

EDITED, WRITTEN, SEEN, MENTIONED = 6.0, 3.0, 1.0, 0.8
_LOOKED_AT = 60_000  # characters; more than the client gives to the agent at once, mostly
_SEARCHES = ("Grep", "Glob")
_NOT_THERE = ("does not exist", "o such file")
_PARTS, _MOST_LINES = {"offset", "limit", "pages"}, 1_990  # fields that ask for a part; lines that a client prints
_MOST_FILES = 40  # files of one search or patch


class Sighting(Record):
    """A file seen in a step, with identifiers in it, and those that an edit removed (`lost`). `renamed` are texts that
    it replaced everywhere, each with the new one. `whole` are all of a file that was written anew or read from begin
    to end. `gone` says what became of it, if that is known ("": it is there). `is_used` if a call named it.
    """

    path: str
    weight: float
    words: frozenset[str] | set[str] = frozenset()
    lost: frozenset[str] | set[str] = frozenset()
    whole: frozenset[str] | set[str] | None = None
    gone: str | None = None
    is_used: bool = False
    renamed: tuple[tuple[str, str], ...] = ()


def sightings(step: Step, call: Call | None, root: str) -> Iterator[Sighting]:
    """Yield the sightings in a step.

    `call` is the tool call of the step or of its result. `root` is the folder to which paths are relative.
    """
    match step.kind:
        case kind if kind == TOOL_CALL and call is not None:
            yield from _of_call(call, root)
        case kind if kind == TOOL_RESULT and call is not None:
            yield from _of_result(step, call, root)


def _beginning(text: str, limit: int) -> str:
    """Return the text up to a limit, without a partial word at its end."""
    return text if len(text) <= limit else text[:limit].rsplit(None, 1)[0]


def _of_call(call: Call, root: str) -> Iterator[Sighting]:
    old, new = _replaced_by(call)
    lost, content = old - new, call.fields.get("content")
    whole = set(identifiers(content)) if call.tool == "Write" and isinstance(content, str) else None
    for path, changes in _changes_by_file(call, root).items():
        words = identifiers(_beginning("\n".join(change.text for change in changes), _LOOKED_AT))
        gone = lost | _patched_out(changes)
        yield Sighting(path, EDITED, words - gone, gone, whole, is_used=True, renamed=_renamed(call))
    if call.path and not call.changes:
        yield Sighting(relative_path(call.path, root), WRITTEN, is_used=True)


def _replaced_by(call: Call) -> tuple[set[str], set[str]]:
    """Return the identifiers in what an edit takes out, and in what it puts there. One that stands elsewhere in the
    file is seen there again.
    """
    old, new = (
        identifiers(strings_of([edit.get(name) for edit in _edits(call)])) for name in ("old_string", "new_string")
    )
    return set(old), set(new)


def _renamed(call: Call) -> tuple[tuple[str, str], ...]:
    """Return the texts that a call replaces everywhere, also inside longer names, each with the new one."""
    every = ((edit.get("old_string"), edit.get("new_string")) for edit in _edits(call) if edit.get("replace_all"))
    return tuple((old, new) for old, new in every if isinstance(old, str) and isinstance(new, str) and old)


def _edits(call: Call) -> list[dict[str, Any]]:
    edits = call.fields.get("edits")
    return [edit for edit in (call.fields, *(edits if isinstance(edits, list) else ())) if isinstance(edit, dict)]


def _changes_by_file(call: Call, root: str) -> dict[str, list[Change]]:
    """Return the changes that a call makes, by file."""
    changes: dict[str, list[Change]] = {}
    for change in call.changes[:_MOST_FILES]:
        changes.setdefault(relative_path(change.path, root), []).append(change)
    return changes


def _patched_out(changes: Iterable[Change]) -> set[str]:
    """Return the identifiers that stand in a patch before it is applied, and not after that."""
    hunks = [hunk for change in changes if change.diff for hunk in hunks_of(change)]
    old, new = (identifiers("\n".join(texts)) for texts in ([hunk[0] for hunk in hunks], [hunk[1] for hunk in hunks]))
    return old - new


def _of_result(step: Step, call: Call, root: str) -> Iterator[Sighting]:
    if not step.is_error:
        yield from _made_of_files(call, root)
    elif call.changes and call.path:  # a refused edit put no name into its file
        old, new = _replaced_by(call)
        back = tuple((new_text, old_text) for old_text, new_text in reversed(_renamed(call)) if new_text)
        yield Sighting(relative_path(call.path, root), SEEN, lost=new - old, renamed=back)
    elif call.path and any(words in step.text for words in _NOT_THERE):
        yield Sighting(relative_path(call.path, root), SEEN, gone="not found")
    text = _beginning(step.text, _LOOKED_AT)
    if call.command and not step.is_error:
        paths, searched = read_by_command(call)
        if searched is not None:
            yield from _of_search(text, call, root, searched)
        elif len(paths) == 1 and is_file(path := paths.pop()):  # of several it cannot be told which has a name
            yield Sighting(relative_path(path, root), SEEN, identifiers(text), is_used=True)
    elif call.path and call.tool == "Read" and not step.is_error:
        words = identifiers(text)
        whole = set(identifiers(step.text)) if _is_whole(step, call) else None
        yield Sighting(relative_path(call.path, root), SEEN, words, whole=whole, gone="")
    elif call.tool in _SEARCHES and not step.is_error:
        yield from _of_search(text, call, root)


def _is_whole(step: Step, call: Call) -> bool:
    """Return whether a file was read from its first line to its last."""
    return call.fields.keys().isdisjoint(_PARTS) and step.text.count("\n") < _MOST_LINES


def _made_of_files(call: Call, root: str) -> Iterator[Sighting]:
    """Yield whether the files that a call changed, moved or removed are still there."""
    changes = islice(chain(call.changes, taken_away(call)), _MOST_FILES)
    for path, gone in {relative_path(change.path, root): change.gone for change in changes}.items():
        yield Sighting(path, SEEN, gone=gone.replace(f"{root}/", "") if root else gone)


def _of_search(text: str, call: Call, root: str, before: str = "") -> Iterator[Sighting]:
    """Yield the files in a search result (`path:12:line`) with the identifiers in their lines. `before` stands before
    relative paths.

    If only one file was searched, all lines belong to it.
    """
    by_file: dict[str, list[str]] = {}
    searched = call.fields.get("path")
    if isinstance(searched, str) and is_file(searched):
        by_file[searched] = [text]
    else:
        path = ""
        for line in with_slashes(text, root).split("\n"):
            path = _found_in(line, path)
            if path in by_file or (path and len(by_file) < _MOST_FILES):
                by_file.setdefault(path, []).append(line[len(path) :])
    for path, lines in by_file.items():
        whole = path if is_absolute(path) else before + path
        yield Sighting(relative_path(whole, root), MENTIONED, identifiers("\n".join(lines)))


def _found_in(line: str, before: str) -> str:
    """Return the file in a line of a search, `path:12:line` or the path alone. That of the line before also stands in
    front of context, `path-12-line`. Return "" if the line has none.
    """
    if before and line.startswith((f"{before}:", f"{before}-")):
        return before
    path = line.partition(":")[0]
    return path if is_file(path) else ""
