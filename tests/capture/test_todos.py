from __future__ import annotations

from typing import Any

import pytest

from unified_state.capture.rules.todos import TASK_CREATE, TASK_UPDATE, changed_entry, whole_list
from unified_state.model.fact import Todo


def test_the_whole_list_is_read_word_for_word_with_its_states() -> None:
    todos = [
        {"content": "Read the parser", "status": "completed", "activeForm": "Reading"},
        {"content": "Fix  `it`", "status": "in_progress", "activeForm": "Fixing"},
        {"content": "Test", "status": "pending", "activeForm": "Testing"},
    ]
    assert whole_list({"todos": todos}) == (
        Todo("1", "Read the parser", "completed"),
        Todo("2", "Fix  `it`", "in_progress"),
        Todo("3", "Test", "pending"),
    )


@pytest.mark.parametrize("call", [{}, {"todos": "x"}, {"todos": [1, {"content": 5}, {"content": " "}]}])
def test_a_list_of_another_shape_is_empty(call: dict[str, Any]) -> None:
    assert whole_list(call) == ()


def test_an_unknown_state_is_pending() -> None:
    assert whole_list({"todos": [{"content": "a", "status": "someday"}]}) == (Todo("1", "a", "pending"),)


def test_a_task_has_the_number_that_the_client_gave_it() -> None:
    result = "Task #12 created successfully: Add a field"
    assert changed_entry(TASK_CREATE, {"subject": "Add a field"}, result) == Todo("12", "Add a field", "pending")


def test_an_update_changes_what_it_names() -> None:
    assert changed_entry(TASK_UPDATE, {"taskId": "12", "status": "completed"}, "Updated task #12 status") == Todo(
        "12", None, "completed"
    )
    assert changed_entry(TASK_UPDATE, {"taskId": 3, "subject": "Other words"}, "Updated") == Todo(
        "3", "Other words", None
    )


@pytest.mark.parametrize(
    ("tool", "call", "result"),
    [
        (TASK_CREATE, {"subject": "a"}, "Tool refused"),
        (TASK_CREATE, {}, "Task #1 created successfully"),
        (TASK_UPDATE, {"taskId": "1", "owner": "me"}, "Updated task #1 owner"),
        (TASK_UPDATE, {"status": "completed"}, ""),
    ],
)
def test_what_changes_nothing_of_the_list_gives_nothing(tool: str, call: dict[str, Any], result: str) -> None:
    assert changed_entry(tool, call, result) is None
