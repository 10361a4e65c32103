from __future__ import annotations

import pytest

from unified_state.restore.rules.passages import Passage, chosen, passages

CAUSE = "The port is 8443 in `proxy_settings`, because 443 is taken by the old gateway."
OTHER = "`read_all` in src/reader.py drops the last line when the file has no newline."


def parts(text: str) -> list[str]:
    return [passage.text for passage in passages([(text, 0)])]


def best(*texts: str, summary: str = "") -> list[str]:
    """The chosen passages of texts, the newest first, the best first."""
    found = list(passages((text, age) for age, text in enumerate(texts)))
    return [passage.text for passage, _ in chosen(found, summary)]


def test_a_text_gives_its_paragraphs_and_lists() -> None:
    listed = "1. `a.py:88` has the field, as it should\n2. `b.py:99` copies it on each load"
    assert parts(f"# Heading\n\n{CAUSE}\n\nIt is in two places:\n\n{listed}\n\n---\n\n{OTHER}") == [
        CAUSE,
        f"It is in two places: {' '.join(listed.splitlines())}",
        OTHER,
    ]


def test_code_and_announcements_are_no_passages() -> None:
    assert (
        parts("```go\nfunc isTrivialLine(line string) bool { return false }\n```\nNow let me look at the tests of it:")
        == []
    )


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    found = parts(" ".join([CAUSE, OTHER] * 6))
    assert len(found) > 1
    assert all(len(part) <= 400 and part.endswith(".") for part in found)


def test_one_long_word_is_cut() -> None:
    assert [len(part) for part in parts("x" * 5000)] == [400]


def test_what_the_summary_tells_comes_behind_what_it_lost() -> None:
    assert best(CAUSE, OTHER, summary=f"Done so far: {CAUSE}")[0] == OTHER
    assert best(CAUSE, OTHER, summary=f"Done so far: {OTHER}")[0] == CAUSE


def test_what_was_said_twice_comes_once_before_other_things() -> None:
    again = f"So, as I said: {CAUSE}"
    assert OTHER in best(again, CAUSE, OTHER)[:2]


def test_the_newer_of_two_alike_comes_first() -> None:
    one, other = (
        "The limit is 500 in `first_settings` for all users.",
        "The limit is 700 in `other_settings` for all users.",
    )
    assert best(one, other)[0] == one
    assert best(other, one)[0] == other


def test_a_passage_without_a_name_counts_only_if_it_was_just_said() -> None:
    nameless = "The logic is correct; it was only blocked by something that was left over from before."
    assert [passage.text for passage, _ in chosen([Passage(nameless, 1)], "")] == [nameless]
    assert chosen([Passage(nameless, 9)], "") == []


@pytest.mark.parametrize("text", ["", "\n\n", "```", "|---|---|", "ok", "語" * 500, "\ud83d" * 100])
def test_any_text_can_be_read(text: str) -> None:
    chosen(list(passages([(text, 0)])), text)
