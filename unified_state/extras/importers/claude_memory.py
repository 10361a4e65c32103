"""Claude Code's auto memory: `~/.claude/projects/<project>/memory/`, with `MEMORY.md` and a note a file.

A note has fields at its top: `name`, `description`, and a type (`user`, `feedback`, `project`, `reference`), in older
versions directly and in newer ones below `metadata`. How to work (`feedback`) and what the user told of themselves
(`user`) become proposed constraints, the rest proposed evidence. Notes without fields count if `MEMORY.md` names them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from unified_state.extras.importers.foreign_records import Conversation, fields_and_body, moment, proposal, sections
from unified_state.lib.read_files import read_regular
from unified_state.lib.text import text_hash
from unified_state.model.history_records import HistoryRecord
from unified_state.model.item import CONSTRAINT, EVIDENCE
from unified_state.model.step import NOTICE
from unified_state.upkeep.exchange.foreign_files import ForeignFile, plain

NAME = "Claude Code memory"
_PROGRAM = "claude-memory"
_INDEX, _MOST_OF_INDEX = "MEMORY.md", 1 << 20
_TYPES = ("user", "feedback", "project", "reference")
_HEADING = re.compile(r"^##? +(.+)$", re.MULTILINE)


def told(head: str, path: str) -> bool:
    """Return whether this is a note with its fields, the index, or a note that the index names."""
    if not path.endswith(".md"):
        return False
    fields, _ = fields_and_body(head)
    if fields:
        return fields.get("type") in _TYPES and "name" in fields
    name = os.path.basename(path)
    return name == _INDEX or f"({name})" in _index(path)


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield a note as a step and a proposal, and a file without fields as a step a section."""
    text = file.text()
    fields, body = fields_and_body(text)
    at = moment(fields.get("modified")) or file.modified()
    project = _project(file)
    talk = Conversation(_PROGRAM, project, at)
    yield talk.session()
    if fields.get("type") not in _TYPES:
        for number, (_, part) in enumerate(sections(text, _HEADING)):
            yield talk.step(
                NOTICE, f"{file.name}: {part}", name=f"{project}:{file.name}:{number}:{text_hash(part)[:16]}"
            )
        return
    step = talk.step(NOTICE, text.strip(), name=f"{project}:{file.name}:{text_hash(text)[:16]}")
    yield step
    said = fields.get("description") or body.strip().partition("\n\n")[0]
    if not said:
        return
    about = f"Claude Code's memory: {fields['type']}, {file.name}"
    kind = CONSTRAINT if fields["type"] in {"feedback", "user"} else EVIDENCE
    yield proposal(step, kind, said, f"{project}:{file.name}:{said}", {"source": about})


def _index(path: str) -> str:
    try:
        return plain(read_regular(os.path.join(os.path.dirname(path), _INDEX), _MOST_OF_INDEX))
    except OSError:
        return ""


def _project(file: ForeignFile) -> str:
    """Return the client's name of the project: the folder above `memory`."""
    folder = os.path.dirname(os.path.abspath(file.path))
    return os.path.basename(os.path.dirname(folder) if file.folder == "memory" else folder)
