"""The LoCoMo benchmark on a conversation of two days."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from benchmarks import locomo, retrieval

CONVERSATION = {
    "speaker_a": "Ada",
    "speaker_b": "Ben",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a parrot yesterday."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a photo of a canoe"},
    ],
    "session_2_date_time": "10:05 am on 1 June, 2023",
    "session_2": [
        {"speaker": "Ben", "dia_id": "D2:1", "text": "My sister plays the violin."},
        {"speaker": "Ada", "dia_id": "D2:2", "text": "Mine paints."},
    ],
}
QUESTIONS = [
    {"question": "Which bird did Ada adopt?", "category": 4, "evidence": ["D1:1"]},
    {"question": "Who has a canoe?", "category": 1, "evidence": ["D1:2; D2:1"]},
    {"question": "Who flies?", "category": 5, "evidence": ["D9:9"]},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The conversation as a packed file."""
    path = tmp_path / "locomo.json.xz"
    path.write_bytes(lzma.compress(json.dumps([{"conversation": CONVERSATION, "qa": QUESTIONS}]).encode()))
    return path


def test_scores_are_the_share_of_the_evidence_and_the_place_of_the_first() -> None:
    ranked = ["D9:9", "D1:2", "D3:1", "D3:2", "D3:3", "D2:1"]
    scores = retrieval.scores(ranked, frozenset({"D1:2", "D2:1"}))
    assert scores == {"R@1": 0.0, "R@5": 0.5, "R@10": 1.0, "R@20": 1.0, "MRR": 0.5}


def test_the_command_asks_every_method_every_question(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert locomo.main([str(file), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    found = {(row["questions"], row["method"]): row["measures"] for row in rows}
    assert {questions for questions, _ in found} == {"categories 1-4", "multi-hop", "single-hop"}
    assert found["categories 1-4", "BM25"]["R@1"]["mean"] == (1 + 1 / 2) / 2
    assert found["single-hop", "unified-state"]["MRR"]["mean"] == 1
    assert found["single-hop", "recency"]["MRR"]["mean"] == 1 / 4
