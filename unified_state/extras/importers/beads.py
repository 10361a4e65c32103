"""beads' issues: `.beads/issues.jsonl` (or `beads.jsonl`, or `bd export`), an issue a line.

An open issue is proposed as an open question, because it is work that is not done; one of the type `decision` as a
decision. A closed issue arrives resolved, so that it can be found and does not wait for anyone. What blocks an issue is
in its context. Memories of `bd remember` are proposed evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from unified_state.extras.importers.foreign_records import Conversation, moment, proposal, text_in
from unified_state.hosts.transcripts.transcript_lines import objects_in
from unified_state.lib.text import cut, text_hash
from unified_state.lib.times import to_text
from unified_state.model.history_records import HistoryRecord, StoredItem, StoredStep
from unified_state.model.item import DECISION, EVIDENCE, QUESTION
from unified_state.model.step import NOTICE
from unified_state.upkeep.exchange.foreign_files import ForeignFile, Tally

NAME = "beads"
_BEGIN = re.compile(r'\{\s*"(?:_type"\s*:\s*"(?:issue|memory)"|id"\s*:\s*")')
_CLOSED, _GONE = "closed", "tombstone"
_PRIORITIES = {0: "high", 1: "high", 2: "medium", 3: "low", 4: "low"}
_TEXTS = ("description", "design", "acceptance_criteria", "notes", "close_reason")
_CONTEXT = 500  # characters of the description in an item; its step has the whole


def told(head: str, _path: str) -> bool:
    """Return whether the first line is an issue or a memory."""
    line = head.partition("\n")[0]
    if not _BEGIN.match(line):
        return False
    return ('"title"' in line and '"status"' in line) or ('"key"' in line and '"value"' in line)


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield an issue as a step and an item. Deleted issues are left out."""
    statuses = {text_in(issue, "id"): text_in(issue, "status") for _, issue in _again(file).objects()}
    known: set[str] = set()
    for number, issue in file.objects():
        name, title = text_in(issue, "id", "key"), text_in(issue, "title", "value")
        if issue.get("status") == _GONE:
            continue
        if not name or not title.strip():
            file.skip(f"line {number}")
            continue
        at = moment(issue.get("updated_at")) or moment(issue.get("created_at")) or file.modified()
        is_memory = "value" in issue and "title" not in issue
        talk = Conversation(NAME, "memories" if is_memory else name.rpartition("-")[0] or name, at)
        if talk.id not in known:
            known.add(talk.id)
            yield talk.session()
        text = f"{name}: {title}" if is_memory else _text(issue, name, title)
        step = talk.step(NOTICE, text, name=f"{name}:{text_hash(text)[:16]}")
        yield step
        if is_memory:
            yield proposal(step, EVIDENCE, title, f"{name}:{title}", {"source": f"beads, {name}"})
        else:
            yield _item(step, issue, name, title, statuses)


def _again(file: ForeignFile) -> ForeignFile:
    """Return the file to be read ahead, without counting."""
    return ForeignFile(file.path, Tally(), worktree=file.worktree, is_named=True)


def _text(issue: dict[str, Any], name: str, title: str) -> str:
    about = ", ".join(filter(None, (text_in(issue, "issue_type"), text_in(issue, "status"))))
    parts = [f"{name} ({about}): {title}"]
    parts += [f"{part.replace('_', ' ')}: {said}" for part in _TEXTS if (said := text_in(issue, part))]
    for comment in objects_in(issue.get("comments")):
        parts.append(f"{text_in(comment, 'author') or 'comment'}: {text_in(comment, 'text')}")
    return "\n\n".join(parts)


def _item(step: StoredStep, issue: dict[str, Any], name: str, title: str, statuses: dict[str, str]) -> StoredItem:
    description = cut(text_in(issue, "description"), _CONTEXT)
    changed = moment(issue.get("closed_at")) or step.at
    if issue.get("issue_type") == DECISION:
        return proposal(step, DECISION, title, name, {"rationale": description or f"beads {name}"}, changed=step.at)
    priority = issue.get("priority")
    blockers = ", ".join(_blockers(issue, statuses))
    status = text_in(issue, "status")
    context = f"beads {name}, {status or 'open'}" + f", blocked by {blockers}" * bool(blockers)
    body: dict[str, Any] = {
        "context": f"{context}. {description}".strip(),
        "priority": _PRIORITIES.get(priority, "medium") if isinstance(priority, int) else "medium",
    }
    if status != _CLOSED:
        return proposal(step, QUESTION, title, name, body, changed=step.at)
    body |= {"resolution": text_in(issue, "close_reason") or "closed", "resolvedAt": to_text(max(0, changed))}
    return proposal(step, QUESTION, title, name, body, changed=max(changed, step.at), status="resolved")


def _blockers(issue: dict[str, Any], statuses: dict[str, str]) -> Iterator[str]:
    """Yield the issues that must be closed before this one."""
    for link in objects_in(issue.get("dependencies")):
        other = text_in(link, "depends_on_id")
        if other and text_in(link, "type", "dep_type") == "blocks" and statuses.get(other) not in {_CLOSED, _GONE}:
            yield other
