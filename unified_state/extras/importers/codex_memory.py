"""Codex's memories: `~/.codex/memories/` with `raw_memories.md`, `MEMORY.md`, `memory_summary.md` and
`rollout_summaries/*.md`.

They are of all projects of the user. Each part names the folder that it is about, and parts of other folders are left
out of the import of a folder. In `MEMORY.md`, preferences of the user become proposed constraints, and failures
proposed failed attempts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from unified_state.extras.importers.foreign_records import MOST_PROPOSALS, Conversation, moment, proposal, sections
from unified_state.model.history_records import HistoryRecord, StoredStep
from unified_state.model.item import ATTEMPT, CONSTRAINT
from unified_state.model.step import NOTICE
from unified_state.upkeep.exchange.foreign_files import ForeignFile

NAME = "Codex memories"
_PROGRAM = "codex-memory"
_RAW, _GROUP = "# Raw Memories", "# Task Group:"
_THREAD = re.compile(r"^## Thread `([^`\n]+)`", re.MULTILINE)
_GROUPS = re.compile(r"^# Task Group: *(.*)$", re.MULTILINE)
_SECTION = re.compile(r"^## +(.+)$", re.MULTILINE)
_CWD = re.compile(r"^(?:applies_to: *cwd=([^;\n]+)|cwd: *(\S.*))", re.MULTILINE)
_UPDATED = re.compile(r"updated_at[:=] *(\S+)")
_THREAD_ID = re.compile(r"thread_id: *(\S+)")
_BULLET = re.compile(r"^- +(.+(?:\n {2,}\S.*)*)", re.MULTILINE)
_REFERENCE = re.compile(r"(?:\s*\[Task \d+\])+$")
_TAIL = 200  # characters of an entry, in which it may name tasks
_ITEMS = {"User preferences": CONSTRAINT, "Failures and how to do differently": ATTEMPT}
_OF_ALL = ("User Profile", "User preferences", "General Tips")  # of the summary; the rest lists all projects


def told(head: str, path: str) -> bool:
    """Return whether a text begins as one of the four files."""
    if not path.endswith(".md"):
        return False
    begin = head.removeprefix("v1").lstrip()
    return begin.startswith((_RAW, _GROUP)) or _is_summary(head) or _is_rollout(head)


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield a step for each part that is of this project, and the proposals of its lists."""
    text = file.text()
    parts = _parts(text)
    if not parts:
        file.skip("line 1")
    for name, part in parts:
        cwd = _CWD.search(part)
        if cwd is not None and file.is_elsewhere((cwd[1] or cwd[2]).strip()):
            continue
        at = max(map(moment, _UPDATED.findall(part)), default=0) or file.modified()
        talk = Conversation(_PROGRAM, name or "memories", at)
        yield talk.session()
        step = talk.step(NOTICE, part)
        yield step
        if not _is_rollout(text):
            yield from _items(step, part)


def _parts(text: str) -> list[tuple[str, str]]:
    """Return the parts of a file with the thread or group that they are of."""
    begin = text.removeprefix("v1").lstrip()
    if begin.startswith(_RAW):
        return [part for part in sections(begin, _THREAD) if part[0]]
    if begin.startswith(_GROUP):
        return [part for part in sections(begin, _GROUPS) if part[0]]
    if _is_summary(text):
        return [(name, part) for name, part in sections(text, _SECTION) if name.strip() in _OF_ALL]
    thread = _THREAD_ID.search(text[:1000])
    return [(thread[1], text.strip())] if thread else []


def _items(step: StoredStep, part: str) -> Iterator[HistoryRecord]:
    """Yield the proposals of the lists in a part."""
    for name, section in sections(part, _SECTION):
        kind = _ITEMS.get(name.strip())
        for found in islice(_BULLET.finditer(section), MOST_PROPOSALS) if kind else ():
            said = found[1][:-_TAIL] + _REFERENCE.sub("", found[1][-_TAIL:]).rstrip()
            body = {"source": f"Codex's memories: {name.strip()}"} if kind == CONSTRAINT else {}
            if said and kind:
                yield proposal(step, kind, said, said, body)


def _is_summary(text: str) -> bool:
    return text.startswith("v1\n") and "## User Profile" in text


def _is_rollout(text: str) -> bool:
    head = text[:2000]
    return head.startswith("thread_id:") and "rollout_path:" in head
