"""The benchmark of sessions found, on two small sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import sessions_found


def _transcript(name: str, *prompts: str) -> str:
    session_id = f"{name}-0000-4000-8000-000000000000"
    entries = (
        {
            "type": "user",
            "uuid": f"{name}-0000-4000-8000-{number:012}",
            "sessionId": session_id,
            "timestamp": f"2026-03-14T09:30:{number:02}.000Z",
            "message": {"role": "user", "content": said},
        }
        for number, said in enumerate(prompts)
    )
    return "\n".join(map(json.dumps, entries)) + "\n"


TOLD = {
    "sessions": {
        "aaaaaaaa": _transcript("aaaaaaaa", "The parser loses commas.", "It is fixed in parser.py."),
        "bbbbbbbb": _transcript("bbbbbbbb", "Make the logo blue."),
    },
    "questions": [{"id": "1", "repo": "r", "question": "The parser fails", "files": [], "sessions": ["aaaaaaaa"]}],
}


def test_every_method_looks_for_the_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sessions.json"
    file.write_text(json.dumps(TOLD), encoding="utf-8")
    assert sessions_found.main([str(file), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    found = {row["method"]: row["measures"]["hit@1"]["mean"] for row in rows}
    assert found.keys() == {"random", "BM25", "unified-state"}
    assert found["BM25"] == found["unified-state"] == 1
