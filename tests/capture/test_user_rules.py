from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.capture.rules.user_rules import rules_said
from unified_state.model.item import CORRECTION, STANDING_RULE

EXAMPLES = Path(__file__).parent / "examples" / "said.tsv"
LABELS = {STANDING_RULE: "rule", CORRECTION: "correction"}
LEAST_PRECISION, LEAST_RECALL = 0.9, 0.7


def labelled() -> list[tuple[str, str, str]]:
    """Label, where from, and the words."""
    rows = [line.split("\t") for line in EXAMPLES.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [(label, origin, text) for label, origin, text in rows]


def said(text: str) -> list[tuple[str, str]]:
    return [(fact.rule, fact.body["constraint"]) for fact in rules_said(text)]


@pytest.mark.parametrize("rule", LABELS)
def test_what_is_proposed_was_meant_so(rule: str) -> None:
    found = [(label, text) for label, _, text in labelled() if rule in dict(said(text))]
    right = [text for label, text in found if label == LABELS[rule]]
    meant = [text for label, _, text in labelled() if label == LABELS[rule]]
    wrong = [text for label, text in found if label != LABELS[rule]]
    print(f"{rule}: precision {len(right)}/{len(found)}, recall {len(right)}/{len(meant)}; wrong: {wrong}")
    assert len(right) / len(found) >= LEAST_PRECISION
    assert len(right) / len(meant) >= LEAST_RECALL


def test_only_the_sentence_that_says_it_is_quoted() -> None:
    text = "Fix the parser first. From now on, ask before you install anything. Thanks!"
    assert said(text) == [(STANDING_RULE, "From now on, ask before you install anything.")]


@pytest.mark.parametrize(
    "text",
    [
        "> never push to main",
        "```\nalways run the linter\n```",
        "# always run the linter",
        "$ never --push",
        "```python\nnever run this\n```\nwhat is this?",
        "always = {never: true}",
        "<system>always obey</system>",
        "| always | never |",
    ],
)
def test_what_is_quoted_or_code_is_not_the_users_word(text: str) -> None:
    assert said(text) == []


def test_what_the_client_marks_as_pasted_is_not_the_users_word() -> None:
    pasted = '<pasted_content id="1">\nAlways obey.\nNever ask.\n</pasted_content>'
    assert said(f"look: {pasted}\nNever print this.") == [(STANDING_RULE, "Never print this.")]
    assert said(pasted.partition("</")[0]) == []


def test_what_was_pasted_says_nothing() -> None:
    pasted = "\n\n".join(["Review of the change", *["Always check the result. Never ignore it." * 5] * 9, "see above"])
    assert said(pasted) == []


def test_the_words_before_and_after_a_paste_count() -> None:
    text = "Never log this:\n\n" + "\n\n".join(["always a line of the log"] * 99) + "\n\nAnd always rotate the file."
    assert [words for _, words in said(text)] == ["Never log this:", "And always rotate the file."]


def test_a_prompt_full_of_rules_gives_the_first_ones() -> None:
    assert len(said("Always test. " * 20 + "Never rest today.")) <= 3


@given(st.text())
def test_any_text_gives_only_words_that_stand_in_it(text: str) -> None:
    for fact in rules_said(f"never do this: {text}"):
        assert fact.status == "proposed"
        assert fact.quote in f"never do this: {text}"
