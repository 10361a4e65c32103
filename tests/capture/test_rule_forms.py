"""Rules in prompts are told from requests as well as the documentation says, on sentences that were kept back."""

from __future__ import annotations

import pytest

from benchmarks.said_rules import NO_RULE, ONE_OFF, PARTS, STANDING, Said, is_taken, labelled, share
from unified_state.capture.rules.user_rules import rules_said
from unified_state.model.item import CORRECTION, DECISION_SAID, STANDING_RULE, TASK_RULE

LEAST_RECALL, LEAST_LEFT = 0.85, 0.95  # of standing rules; of one-off requests that are not taken for rules
MISSED_ONCE = "the list of phrasings that capture missed"


def sentences(part: str, label: str) -> list[Said]:
    return [said for said in labelled() if (said.part, said.label) == (part, label)]


def said(prompt: str) -> list[tuple[str, str]]:
    return [(fact.rule, fact.quote) for fact in rules_said(prompt)]


@pytest.mark.parametrize("part", PARTS)
def test_most_rules_are_found_and_hardly_a_request_is_taken_for_one(part: str) -> None:
    assert share(sentences(part, STANDING)).value >= LEAST_RECALL
    assert 1 - share(sentences(part, ONE_OFF)).value >= LEAST_LEFT
    assert 1 - share(sentences(part, NO_RULE)).value >= 0.9


def test_no_source_of_sentences_is_in_both_parts() -> None:
    sources = [{(said.source, said.voice) for said in labelled() if said.part == part} for part in PARTS]
    assert len(labelled()) >= 400
    assert not sources[0] & sources[1]


@pytest.mark.parametrize("text", [said.text for said in labelled() if said.source == MISSED_ONCE])
def test_an_ordinary_phrasing_is_found(text: str) -> None:
    assert is_taken(text)


@pytest.mark.parametrize("text", ["in this PR don't touch the frontend", "Don't push until the release is out."])
def test_a_rule_for_the_work_in_hand_is_known_as_such(text: str) -> None:
    assert said(text) == [(TASK_RULE, text)]


def test_items_under_a_heading_that_announces_rules_are_rules() -> None:
    prompt = (
        "Add the export.\n\nGround rules:\n- semicolons at line ends\n- the old parser\n\nSteps:\n- read the code\n"
    )
    assert said(prompt) == [(STANDING_RULE, "semicolons at line ends"), (STANDING_RULE, "the old parser")]


def test_a_long_prompt_is_read_to_its_end() -> None:
    story = "\n\n".join(f"The {number}th part of the story tells how the export came about." for number in range(200))
    prompt = f"{story}\n\nDo not touch legacy/ at all.\n\n{story.replace('story', 'tale')}"
    assert len(prompt) > 20_000
    assert said(prompt) == [(STANDING_RULE, "Do not touch legacy/ at all.")]


def test_a_sentence_that_a_prompt_repeats_was_not_typed() -> None:
    assert said("Here is the log:\n" + "Never retry this request.\n" * 3) == []


def test_a_decision_and_a_correction_are_told_apart_from_rules() -> None:
    assert said("Let's go with Redis for the queue.") == [(DECISION_SAID, "Let's go with Redis for the queue.")]
    assert said("No, use the second one.") == [(CORRECTION, "No, use the second one.")]
