"""The agent's list of what is to be done, as it keeps it with TodoWrite, or entry by entry with TaskCreate and
TaskUpdate.
"""

from __future__ import annotations

from unified_state.model.fact import Todo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TODO_WRITE, TASK_CREATE, TASK_UPDATE = "TodoWrite", "TaskCreate", "TaskUpdate"
TOOLS = (TODO_WRITE, TASK_CREATE, TASK_UPDATE)
STATES = ("pending", "in_progress", "completed", "deleted")
_CREATED = "Task #"


def whole_list(call: dict[str, Any]) -> tuple[Todo, ...]:
    """The list as TodoWrite replaced it."""
    given = call.get("todos")
    entries = [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []
    return tuple(
        Todo(str(number), text, _state(entry.get("status")) or "pending")
        for number, entry in enumerate(entries, 1)
        if (text := _text(entry.get("content")))
    )


def changed_entry(tool: str, call: dict[str, Any], result: str) -> Todo | None:
    """The entry that TaskCreate added or TaskUpdate changed."""
    text = _text(call.get("subject")) or None
    if tool == TASK_CREATE:
        key = result.removeprefix(_CREATED).split(None, 1)[0] if result.startswith(_CREATED) else ""
        return Todo(key, text, "pending") if key and text else None
    key, state = str(call.get("taskId") or ""), _state(call.get("status"))
    return Todo(key, text, state) if key and (text or state) else None


def _state(value: object) -> str | None:
    return value if isinstance(value, str) and value in STATES else None


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
