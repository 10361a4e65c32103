"""Plans of plan mode: one that the user approved is a decision of theirs, word for word, and what is worked on now; one
that they rejected is kept with their reason, and is never current.
"""

from __future__ import annotations

from unified_state.capture.rules.refusals import refusal
from unified_state.model.fact import Fact
from unified_state.model.item import DECISION
from unified_state.model.origin import USER_SAID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

APPROVED_PLAN, REJECTED_PLAN = "approved plan", "rejected plan"
TOOL = "ExitPlanMode"
_APPROVED = "User has approved "
_HEADS = ("\n## Approved Plan:\n", "\n## Approved Plan (edited by user):\n")
_TO_IMPLEMENT = "Implement the following plan:\n\n"
_BACK = "\n\nIf you need specific details from before exiting plan mode"
_TITLE_CHARACTERS = 200
_LABELS = ("plan:", "implementation plan:")


def answered_plan(call: dict[str, Any], result: str, *, is_error: bool) -> Fact | None:
    """What became of the plan that was put before the user."""
    written = call.get("plan")
    plan = written.strip() if isinstance(written, str) else ""
    if is_error:
        reason = refusal(result)
        return None if reason is None or not plan else _rejected(plan, reason, result)
    if not result.startswith(_APPROVED):
        return None
    quoted = next((after for head in _HEADS for _, found, after in [result.partition(head)] if found), "").strip()
    return _approved(quoted or plan, quoted or result) if quoted or plan else None


def plan_to_implement(prompt: str) -> Fact | None:
    """The plan that a new conversation begins with after the user approved it and cleared the old one."""
    if not prompt.startswith(_TO_IMPLEMENT):
        return None
    plan = prompt.removeprefix(_TO_IMPLEMENT).rpartition(_BACK)[0] or prompt.removeprefix(_TO_IMPLEMENT)
    return _approved(plan.strip(), plan.strip()) if plan.strip() else None


def title_of(plan: str) -> str:
    """The first heading of a plan, else its first line, without marks."""
    lines = [line.strip() for line in plan.splitlines() if line.strip()]
    line = next((line for line in lines if line.startswith("#")), lines[0] if lines else "").lstrip("#").strip()
    for label in _LABELS:
        if line.lower().startswith(label):
            line = line[len(label) :].strip()
    return line[:_TITLE_CHARACTERS]


def _approved(plan: str, quote: str) -> Fact:
    title = title_of(plan)
    body = {"decision": f"Approved plan: {title}", "rationale": "", "reversible": True, "plan": plan, "title": title}
    return Fact(APPROVED_PLAN, DECISION, USER_SAID, "active", body, quote, replaces=title)


def _rejected(plan: str, reason: str, result: str) -> Fact:
    title = title_of(plan)
    body = {"decision": f"Rejected plan: {title}", "rationale": reason, "reversible": True, "plan": plan}
    return Fact(REJECTED_PLAN, DECISION, USER_SAID, "dismissed", body, reason or result)
