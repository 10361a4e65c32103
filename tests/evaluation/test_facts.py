"""Facts come from a task's own data, and stand in a text only where it says them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evaluation.facts import facts_of, held
from evaluation.tasks import Task, find_tasks

DECIDED = [
    {"role": "user", "text": "Our retries trip the gateway. Please look at the retrier."},
    {"role": "assistant", "text": "I would cap the budget at 5 attempts, a round number."},
    {"role": "user", "text": "No. Cap it at 7 attempts, measured against the gateway's reset window of 13 seconds."},
]


def task(folder: Path, **fields: Any) -> Task:
    """A task in the form of the data set, read from a file."""
    given = {
        "task_id": "retry-001",
        "source": "conversation",
        "module": "retry.py",
        "bug_report": "The upstream blocks us. Fix the Retrier.",
        "policy": "7 attempts (measured against the reset window)",
        "conversations": DECIDED,
    }
    path = folder / "retry" / "tasks" / "main" / "task.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**given, **fields}), encoding="utf-8")
    (found,) = find_tasks(folder)
    return found


def test_the_words_of_the_policy_are_looked_for_in_what_was_decided(tmp_path: Path) -> None:
    facts = facts_of(task(tmp_path))
    assert held("\n".join(said["text"] for said in DECIDED), facts) == 1
    assert held("We cap it at 7 attempts; that was measured against the reset window of the gateway.", facts) == 1
    assert held("We cap it at 5 attempts; that was measured against the reset window of the gateway.", facts) == 0
    assert held("The upstream blocks us. Fix the Retrier.", facts) == 0


def test_our_own_tasks_hang_on_what_was_decided() -> None:
    for found in find_tasks(Path("evaluation/own_tasks")):
        facts = facts_of(found)
        assert held("\n".join(said.text for said in found.decided), facts) == 1
        assert held(found.bug_report, facts) == 0
