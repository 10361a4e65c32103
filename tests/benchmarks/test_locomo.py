"""The LoCoMo benchmark on a conversation of two days."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from benchmarks import locomo, retrieval
from benchmarks.conversations import write_transcripts
from benchmarks.locomo import load_conversations

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


def test_evidence_is_split_and_questions_without_any_are_left_out(file: Path) -> None:
    (conversation,) = load_conversations(file)
    assert [set(question.evidence) for question in conversation.questions] == [{"D1:1"}, {"D1:2", "D2:1"}]


def test_a_session_is_a_transcript_with_captions_and_dates(file: Path, tmp_path: Path) -> None:
    (conversation,) = load_conversations(file)
    turn_of = write_transcripts(conversation, tmp_path)
    first, second = sorted(tmp_path.glob("*.jsonl"))
    entries = [json.loads(line) for line in first.read_text(encoding="utf-8").splitlines()]
    assert [(entry["type"], entry["timestamp"]) for entry in entries] == [
        ("user", "2023-05-08T13:56:00.000Z"),
        ("assistant", "2023-05-08T13:56:30.000Z"),
    ]
    assert entries[1]["message"]["content"][0]["text"] == "Ben: Look! [a photo of a canoe]"
    assert [turn_of[entry["uuid"]] for entry in entries] == ["D1:1", "D1:2"]
    assert len(second.read_text(encoding="utf-8").splitlines()) == 2


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


def test_search_by_words_and_by_meaning_stand_side_by_side_and_are_compared_question_by_question(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert locomo.main([str(file), "--vectors", "off", "minilm"]) == 0
    tables = capsys.readouterr().out.split("\n\n")
    assert [line[:13].strip() for line in tables[0].splitlines()[5:]] == ["unified-state", "... minilm"]
    assert tables[-1].partition(":")[0] == "... minilm over unified-state"
