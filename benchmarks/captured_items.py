"""Items that capture leaves in an archive: of each 1,000 steps of real sessions 11 hold on, most of them evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import find_step, newest_steps
from unified_state.capture.record_facts import FactRecorder
from unified_state.capture.rules.client_tools import ANSWER
from unified_state.capture.rules.commits import COMMIT
from unified_state.capture.rules.failed_calls import ERROR, FAILED_EDIT
from unified_state.model.constraint import OBSERVED, USER_SAID
from unified_state.model.hook_event import Moment
from unified_state.model.item import ATTEMPT, DECISION, EVIDENCE, Fact
from unified_state.model.step import TOOL_RESULT

EACH = 11  # of a session


def capture_items(archive: Archive, sessions: Iterable[int]) -> None:
    """Record items of each session, as its hooks would have."""
    with archive.transaction(durable=False):
        for session in sessions:
            recorder = FactRecorder(archive, session, Moment(0))
            for number, place in enumerate(newest_steps(archive, session, TOOL_RESULT, EACH)):
                step = find_step(archive, place)
                if step is not None:
                    recorder.record(_fact(number, step.text[:200]), step)


def _fact(number: int, text: str) -> Fact:
    if number < 5:
        return Fact(ERROR, EVIDENCE, OBSERVED, "active", {"type": "error", "content": text, "source": "Bash"}, text)
    if number < 8:
        tried = {"attempt": text, "outcome": f"pytest failed: {text}", "command": "pytest"}
        return Fact(FAILED_EDIT, ATTEMPT, OBSERVED, "active", tried, text)
    if number < 10:
        return Fact(COMMIT, EVIDENCE, OBSERVED, "active", {"type": "commit", "content": text, "source": "git"}, text)
    body: dict[str, Any] = {"decision": text, "rationale": "the user answered", "reversible": True}
    return Fact(ANSWER, DECISION, USER_SAID, "active", body, text)
