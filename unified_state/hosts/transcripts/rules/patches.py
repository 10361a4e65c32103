"""Read the patches of Codex's `apply_patch`: the files that they change, and what becomes of each.

A patch names each file in a line of its own (`*** Update File: src/a.py`) and quotes the lines around a change. A file
of which only a part could be read is still named: a patch is evidence, not something to apply.
"""

from __future__ import annotations

from collections.abc import Iterator

from unified_state.lib.record import Record

BEGIN, END = "*** Begin Patch", "*** End Patch"
_ADDED, _DELETED = "*** Add File: ", "*** Delete File: "
_FILES = (_ADDED, "*** Update File: ", _DELETED)
_MOVED = "*** Move to: "
_MARK, _PLACE = "*** ", "@@"
_PREFIXES = "+- "
DELETED = "deleted"


class Change(Record):
    """What a tool call does to one file.

    `text` are the lines that it writes, removes and quotes around them. `gone` says what becomes of a file that is no
    longer there afterwards, and is "" for every other file. `diff` are the lines of a patch with their signs.
    """

    path: str
    text: str = ""
    gone: str = ""
    diff: str = ""


def changes_in(patch: str) -> Iterator[Change]:
    """Yield the change of each file in a patch. A moved file is two changes: the new file and the one that is gone."""
    path, mark, moved, signed = "", "", "", list[str]()
    for line in [*patch.split("\n"), END]:
        if not line.startswith(_MARK):
            signed.append(line)
        elif line.startswith(_MOVED):
            moved = line.removeprefix(_MOVED).strip()
        else:
            if path:
                gone = DELETED if mark == _DELETED else f"moved to {moved}" if moved else ""
                yield Change(path=path, gone=gone) if gone else _change(path, mark, signed)
            if path and moved:
                yield _change(moved, mark, signed)
            mark = next(filter(line.startswith, _FILES), "")
            path, moved, signed = line[len(mark) :].strip() if mark else "", "", []


def hunks_of(change: Change) -> Iterator[tuple[str, str, bool]]:
    """Yield the text before and after each hunk of a patched file, and whether the file is new."""
    old, new, is_new = list[str](), list[str](), True
    for line in [*change.diff.split("\n"), _PLACE]:
        if line.startswith(_PLACE):
            if old != new:
                yield "\n".join(old), "\n".join(new), is_new and not old
            old, new, is_new = [], [], False
        elif line[:1] in _PREFIXES:
            old += [line[1:]] * (line[0] != "+") if line else [""]
            new += [line[1:]] * (line[0] != "-") if line else [""]


def _change(path: str, mark: str, signed: list[str]) -> Change:
    lines = (line[1:] if line[:1] in _PREFIXES else line.removeprefix(_PLACE).strip() for line in signed)
    return Change(path=path, text="\n".join(lines), diff="\n".join(signed if mark == _ADDED else [_PLACE, *signed]))
