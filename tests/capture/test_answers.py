from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.capture.rules.answers import answers
from unified_state.model.fact import Fact

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


def test_a_preview_is_no_part_of_the_answer() -> None:
    (fact,) = found(NEW.format('"Which store?"="SQLite" selected preview:\n+---+\n| a |'), STORE)
    assert fact.body["answer"] == "SQLite"


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


@pytest.mark.parametrize("call", [{}, {"questions": "?"}, {"questions": [1, None, {"question": 5}, {}]}])
def test_a_call_of_another_shape_gives_nothing(call: dict[str, Any]) -> None:
    assert list(answers(call, NEW.format('"Which store?"="SQLite"'))) == []


@given(st.text(min_size=1), st.text(), st.sampled_from([NEW, OLD, OWN, "{}"]))
def test_whatever_is_asked_and_answered_the_quote_stands_in_the_result(question: str, said: str, words: str) -> None:
    result = words.replace("{}", f'"{question}"="{said}"')
    for fact in found(result, {"question": question, "options": [{"label": said}]}):
        assert fact.quote in result
        assert fact.body["question"] == question
