from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.passages import LONGEST, read_passages, read_prompts

LINES = [f"this is line number {number} of what an agent read" for number in range(20)]
PROMPT = "please look at the login page"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a session of one prompt and one long result, said twice, and a file of code."""
    read = {"type": "tool_result", "tool_use_id": "t", "content": "\n".join(LINES)}
    entries = [
        {"type": "user", "message": {"content": PROMPT}},
        *[{"type": "user", "message": {"content": [read]}}] * 2,
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, entries)))
    (tmp_path / "code.py").write_text("x" * (2 * LONGEST + 30))
    return tmp_path


def test_transcripts_come_first_cut_at_line_ends_each_passage_once(folder: Path) -> None:
    passages = read_passages([folder], 11)
    assert passages[0] == PROMPT
    assert "\n".join(passages[1:]).split("\n") == LINES
    assert max(map(len, passages)) <= LONGEST


def test_text_files_give_the_rest_and_long_lines_are_cut(folder: Path) -> None:
    assert read_passages([folder], 1_000)[11:] == ["x" * LONGEST, "x" * 30]


def test_prompts_are_what_users_asked(folder: Path) -> None:
    assert read_prompts([folder], 10) == [PROMPT]
