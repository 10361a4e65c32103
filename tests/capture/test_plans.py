from __future__ import annotations

import pytest

from unified_state.capture.rules.plans import answered_plan, plan_to_implement, title_of

PLAN = "# Plan: Cache the prices\n\n1. Read the cache\n2. Fill it\n"
APPROVED = (
    "User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\n"
    "Your plan has been saved to: /home/ada/.claude/plans/a.md\nYou can refer back to it if needed.\n\n"
)
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file)."
)


def test_an_approved_plan_is_a_decision_with_the_plan_word_for_word() -> None:
    fact = answered_plan({"plan": PLAN}, f"{APPROVED}## Approved Plan:\n{PLAN}", is_error=False)
    assert fact is not None
    assert (fact.kind, fact.origin, fact.status) == ("decision", "user_said", "active")
    assert fact.body["decision"] == "Approved plan: Cache the prices"
    assert fact.quote == fact.body["plan"] == PLAN.strip()


def test_a_plan_that_the_user_edited_is_the_one_that_counts() -> None:
    edited = PLAN.replace("Fill it", "Fill it at night")
    fact = answered_plan({"plan": PLAN}, f"{APPROVED}## Approved Plan (edited by user):\n{edited}", is_error=False)
    assert fact is not None
    assert fact.body["plan"] == edited.strip()


def test_an_approval_that_does_not_repeat_the_plan_counts_too() -> None:
    approval = "User has approved your plan. You can now start coding."
    fact = answered_plan({"plan": PLAN}, approval, is_error=False)
    assert fact is not None
    assert (fact.body["plan"], fact.quote) == (PLAN.strip(), approval)


def test_a_rejected_plan_is_never_current_and_has_the_users_reason() -> None:
    result = f"{REFUSED} To tell you how to proceed, the user said:\nno cache, fix the query"
    fact = answered_plan({"plan": PLAN}, result, is_error=True)
    assert fact is not None
    assert (fact.status, fact.body["rationale"], fact.quote) == (
        "dismissed",
        "no cache, fix the query",
        "no cache, fix the query",
    )


@pytest.mark.parametrize(
    ("call", "result", "is_error"),
    [
        ({"plan": PLAN}, "<tool_use_error>No such tool available: ExitPlanMode</tool_use_error>", True),
        ({}, "User has approved exiting plan mode. You can now proceed.", False),
        ({"plan": ["a"]}, "User has approved your plan.", False),
        ({"plan": PLAN}, "Awaiting the team lead's approval", False),
    ],
)
def test_without_a_plan_or_an_answer_of_the_user_there_is_nothing(
    call: dict[str, object], result: str, is_error: bool
) -> None:
    assert answered_plan(call, result, is_error=is_error) is None


def test_the_plan_that_a_cleared_conversation_begins_with_was_approved() -> None:
    back = "\n\nIf you need specific details from before exiting plan mode (like exact code), read it at: /a.jsonl"
    fact = plan_to_implement(f"Implement the following plan:\n\n{PLAN}\n{back}")
    assert fact is not None
    assert (fact.quote, fact.body["title"]) == (PLAN.strip(), "Cache the prices")


@pytest.mark.parametrize(
    "prompt", ["Implement the following plan: later", "Implement the following plan:\n\n ", "plan"]
)
def test_another_prompt_is_no_plan(prompt: str) -> None:
    assert plan_to_implement(prompt) is None


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        ("intro\n## Implementation plan: Do it\n", "Do it"),
        ("just do it\nthen rest", "just do it"),
        ("# " + "x" * 500, "x" * 200),
        ("", ""),
    ],
)
def test_a_plans_title_is_its_first_heading_or_line(plan: str, title: str) -> None:
    assert title_of(plan) == title
