"""Read the patches of Codex's `apply_patch`: the files that they change, and what becomes of each.

A patch names each file in a line of its own (`*** Update File: src/a.py`) and quotes the lines around a change. A file
of which only a part could be read is still named: a patch is evidence, not something to apply.
"""

from __future__ import annotations

from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
    longer there afterwards, and is "" for every other file.
    """

    path: str
    text: str = ""
    gone: str = ""


def changes_in(patch: str) -> Iterator[Change]:
    """Yield the change of each file in a patch. A moved file is two changes: the new file and the one that is gone."""
    path, deletes, moved, lines = "", False, "", list[str]()
    for line in [*patch.split("\n"), END]:
        if not line.startswith(_MARK):
            lines.append(line[1:] if line[:1] in _PREFIXES else line.removeprefix(_PLACE).strip())
        elif line.startswith(_MOVED):
            moved = line.removeprefix(_MOVED).strip()
        else:
            if path:
                gone = DELETED if deletes else f"moved to {moved}" if moved else ""
                yield Change(path=path, gone=gone) if gone else Change(path=path, text="\n".join(lines))
            if path and moved:
                yield Change(path=moved, text="\n".join(lines))
            mark = next(filter(line.startswith, _FILES), "")
            path, deletes, moved, lines = line[len(mark) :].strip() if mark else "", mark == _DELETED, "", []
