from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.capture.rules.client_tools import (
    answered_plan,
    answers,
    listed_entries,
    plan_to_implement,
    whole_list,
)
from unified_state.model.item import Fact, Todo

STORE = {
    "question": "Which store?",
    "header": "Store",
    "multiSelect": False,
    "options": [
        {"label": "SQLite", "description": "one file"},
        {"label": "PostgreSQL", "description": "a server"},
        {"label": "Files", "description": ""},
    ],
}
TESTS = {
    "question": 'Which tests, "unit" or more?',
    "header": "Tests",
    "multiSelect": True,
    "options": [{"label": "unit"}, {"label": "integration"}, {"label": "end to end"}],
}
NEW = "Your questions have been answered: {}. You can now continue with these answers in mind."
OLD = "User has answered your questions: {}. You can now continue with the user's answers in mind."
OWN = (
    "The user answered: {}. Read the answers carefully — they may request clarification, changes, or that you not "
    "proceed — and follow what they actually say."
)


def found(result: str, *questions: dict[str, Any]) -> list[Fact]:
    return list(answers({"questions": list(questions)}, result))


@pytest.mark.parametrize("words", [NEW, OLD, OWN])
def test_an_answer_is_a_decision_of_the_users_with_the_options_not_taken(words: str) -> None:
    (fact,) = found(words.format('"Which store?"="SQLite"'), STORE)
    assert (fact.kind, fact.origin, fact.status) == ("decision", "user_said", "active")
    assert fact.body["decision"] == "Which store? SQLite"
    assert fact.body["rationale"] == "not taken: PostgreSQL (a server); Files"
    assert fact.quote == '"Which store?"="SQLite"'


@pytest.mark.parametrize("answer", ["unit, end to end", "unit,end to end"])
def test_each_question_has_a_decision_and_several_options_can_be_taken(answer: str) -> None:
    result = NEW.format(f'"Which store?"="Files", "Which tests, "unit" or more?"="{answer}"')
    first, second = found(result, STORE, TESTS)
    assert (first.body["answer"], second.body["answer"]) == ("Files", answer)
    assert second.body["rationale"] == "not taken: integration"


def test_an_answer_in_the_users_own_words_is_kept_word_for_word() -> None:
    (fact,) = found(OWN.format('"Which store?"="the one we had, "plain" files. No server!"'), STORE)
    assert fact.body["answer"] == 'the one we had, "plain" files. No server!'
    assert fact.body["rationale"] == "not taken: SQLite (one file); PostgreSQL (a server); Files"


def test_the_users_notes_belong_to_the_decision() -> None:
    (fact,) = found(OWN.format('"Which store?"="SQLite" notes: but keep the export'), STORE)
    assert fact.body["decision"] == "Which store? SQLite (but keep the export)"
    assert fact.quote == '"Which store?"="SQLite" notes: but keep the export'


def test_notes_without_an_option_are_an_answer() -> None:
    (fact,) = found(OWN.format('"Which store?"=(no option selected) notes: ask Ada'), STORE)
    assert fact.body["decision"] == "Which store? (ask Ada)"


def test_an_answer_to_all_questions_at_once_is_one_decision() -> None:
    (fact,) = found("The user responded: do what you think is best", STORE, TESTS)
    assert fact.body["answer"] == "do what you think is best"
    assert "Which store? / Which tests" in fact.body["question"]


def test_what_was_selected_but_not_sent_is_only_proposed() -> None:
    result = 'No answer in time.\nBefore going idle the user had selected: "Which store?"="SQLite".'
    assert [fact.status for fact in found(result, STORE)] == ["proposed"]


@pytest.mark.parametrize(
    "result", ["The user did not answer the questions.", "", '"Another?"="SQLite"', NEW.format("")]
)
def test_no_answer_gives_no_decision(result: str) -> None:
    assert found(result, STORE) == []


@given(st.text(min_size=1), st.text(), st.sampled_from([NEW, OLD, OWN, "{}"]))
def test_whatever_is_asked_and_answered_the_quote_stands_in_the_result(question: str, said: str, words: str) -> None:
    result = words.replace("{}", f'"{question}"="{said}"')
    for fact in found(result, {"question": question, "options": [{"label": said}]}):
        assert fact.quote in result
        assert fact.body["question"] == question


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
    named = plan_to_implement("Implement the following plan:\n\n# Plan\n\n## Context\n\nPrices are slow.")
    assert named is not None
    assert named.body["title"] == "Context"


@pytest.mark.parametrize(
    "prompt", ["Implement the following plan: later", "Implement the following plan:\n\n ", "plan"]
)
def test_another_prompt_is_no_plan(prompt: str) -> None:
    assert plan_to_implement(prompt) is None


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


def test_the_answer_of_task_list_is_read_entry_by_entry() -> None:
    answer = (
        "#6 [in_progress] Add tests\n#7 [pending] Run [all] of it [blocked by #6]\n#1 [completed] Read\n#x [done] no"
    )
    assert list(listed_entries(answer)) == [
        Todo("6", "Add tests", "in_progress"),
        Todo("7", "Run [all] of it", "pending"),
        Todo("1", "Read", "completed"),
    ]
    assert list(listed_entries("No tasks found")) == []
