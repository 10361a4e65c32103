"""Tasks as they lie in a folder that the user names: a bug report whose answer depends on an earlier decision.

The form is that of sde-bench: each `NAME/tasks/main/task.json` has `task_id`, `source`, `bug_report` and the decision,
as `conversations` (lists of {"role", "text"}) or as `decision_subject` and `decision_rationale`. Two fields are ours:
`facts`, a list of lists of strings, says what a right answer needs; `rules` are said in the first prompt.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """One message of the conversation in which something was decided."""

    role: str
    text: str


@dataclass(frozen=True)
class Task:
    """A task and the folder that it was read from."""

    name: str
    folder: Path
    source: str
    module: str
    bug_report: str
    decided: tuple[Said, ...]
    policy: str = ""
    needed: tuple[tuple[str, ...], ...] = ()
    rules: tuple[str, ...] = ()


def find_tasks(folder: Path) -> list[Task]:
    """Return the tasks of a folder whose decision is in their data, by name. Raise ValueError for another form."""
    files = sorted(folder.glob("*/tasks/main/task.json")) or sorted(folder.glob("*/task.json"))
    if not files:
        message = f"{folder}: no task in it: NAME/tasks/main/task.json or NAME/task.json"
        raise ValueError(message)
    return [task for task in map(_read, files) if task.decided]


def _read(path: Path) -> Task:
    try:
        given: Json = json.loads(path.read_text(encoding="utf-8"))
        return Task(
            name=str(given["task_id"]),
            folder=path.parent,
            source=str(given["source"]),
            module=str(given["module"]),
            bug_report=str(given["bug_report"]),
            decided=_decided(given),
            policy=str(given.get("policy", "")),
            needed=tuple(tuple(map(str, fact)) for fact in given.get("facts", [])),
            rules=tuple(map(str, given.get("rules", []))),
        )
    except (KeyError, TypeError, ValueError) as error:
        message = f"{path}: no task of a known form: {error!r}"
        raise ValueError(message) from error


def _decided(given: Json) -> tuple[Said, ...]:
    """The messages of the decision. A decision of the git history is said by the user, as its commit message."""
    if "decision_rationale" in given:
        return (Said("user", f"{given['decision_subject']}\n\n{given['decision_rationale']}"),)
    told = given.get("conversations", [])
    messages = [message for part in told for message in (part if isinstance(part, list) else [part])]
    return tuple(Said(str(message["role"]), str(message["text"])) for message in messages)


def chosen(tasks: list[Task], count: int | None) -> list[Task]:
    """Return so many of the tasks: conversations first, since no repository tells their decision."""
    return sorted(tasks, key=lambda task: (task.source == "history", task.name))[:count]
