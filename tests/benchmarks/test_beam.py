"""The BEAM benchmark on two small chats."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from benchmarks import beam


def _message(number: int, role: str, content: str, time: str | None = None) -> dict[str, object]:
    return {"id": number, "role": role, "time": time, "content": content}


CHAT = {
    "chat": 1,
    "messages": [
        _message(0, "user", "Our proxy listens on port 8443.", "March-15-2024"),
        _message(1, "assistant", "Noted."),
        _message(2, "user", "The logo is blue.", "April-05-2024"),
        _message(3, "assistant", "A fine colour."),
    ],
    "questions": [
        {"ability": "information_extraction", "question": "Which port does the proxy take?", "evidence": [0]},
        {"ability": "summarization", "question": "What of the logo?", "evidence": [2, 3]},
        {"ability": "abstention", "question": "Who flies?", "evidence": []},
    ],
}
OTHER = {
    "chat": 3,
    "messages": [_message(0, "user", "I sail.", "May-01-2024")],
    "questions": [{"ability": "information_extraction", "question": "Who sails?", "evidence": [0]}],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The chats as a packed file."""
    path = tmp_path / "beam.json.xz"
    path.write_bytes(lzma.compress(json.dumps([CHAT, OTHER]).encode()))
    return path


def test_the_first_table_is_over_what_asks_for_facts(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert beam.main([str(file), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    found = {(row["questions"], row["method"]): row["measures"] for row in rows}
    assert {questions for questions, _ in found} == {"factual", "information_extraction", "summarization"}
    assert found["factual", "unified-state"]["R@1"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "count": 2}
    assert found["factual", "BM25"]["MRR"]["mean"] == 1


@pytest.mark.parametrize(("half", "asked"), [("tune", "chat 1: 2 questions\n"), ("report", "chat 3: 1 questions\n")])
def test_the_half_on_which_one_tunes_is_not_the_one_that_is_reported(
    file: Path, capsys: pytest.CaptureFixture[str], half: str, asked: str
) -> None:
    assert beam.main([str(file), "--half", half]) == 0
    assert capsys.readouterr().err == asked
