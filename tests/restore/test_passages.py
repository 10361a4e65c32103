from __future__ import annotations

import pytest

from unified_state.restore.rules.passages import passages

CAUSE = "The port is 8443 in `proxy_settings`, because 443 is taken by the old gateway."
OTHER = "`read_all` in src/reader.py drops the last line when the file has no newline."


def parts(text: str) -> list[str]:
    return list(passages(text))


def test_a_text_gives_its_paragraphs_and_lists() -> None:
    listed = "1. `a.py:88` has the field, as it should\n2. `b.py:99` copies it on each load"
    assert parts(f"# Heading\n\n{CAUSE}\n\nIt is in two places:\n\n{listed}\n\n---\n\n{OTHER}") == [
        CAUSE,
        f"It is in two places: {' '.join(listed.splitlines())}",
        OTHER,
    ]


@pytest.mark.parametrize("left_out", ["```go\nreturn false\n```", "## Then\n\n### Later"])
def test_what_is_left_out_within_a_passage_leaves_a_mark(left_out: str) -> None:
    assert parts(f"It has two causes:\n\n{left_out}\n\n{CAUSE}\n\n{OTHER}") == [f"It has two causes: … {CAUSE}", OTHER]


@pytest.mark.parametrize(
    "text",
    [
        "Now let me look at the tests of it:",
        "Let me look at the reader again.",
        "I'll rename the module of the parser now.",
        "Let's see what `make test` says about it.",
        "```go\nfunc isTrivialLine(line string) bool { return false }\n```",
    ],
)
def test_code_and_announcements_are_no_passages(text: str) -> None:
    assert parts(text) == []


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    found = parts(" ".join([CAUSE, OTHER] * 6))
    assert len(found) > 1
    assert all(len(part) <= 400 and part.endswith(".") for part in found)


def test_one_long_word_is_cut() -> None:
    assert [len(part) for part in parts("x" * 5000)] == [400]


def test_windows_line_ends_are_line_ends() -> None:
    assert parts(f"{CAUSE}\r\n\r\n{OTHER}\r\n") == [CAUSE, OTHER]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "```", "|---|---|", "ok", "語" * 500, "\ud83d" * 100, "👩\u200d👩\u200d👧 " * 200]
)
def test_any_text_can_be_read(text: str) -> None:
    assert all(0 < len(part) <= 400 for part in parts(text))
