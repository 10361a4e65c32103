"""What was asked, by time, session, words and project, and the begin of a word in a short query."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import SESSION, answer, prompt, write_transcript
from unified_state.interfaces.cli.main import run

DAYS = {"2026-03-13": "Plan the login", "2026-03-14": "Write the parser", "2026-03-15": "Authenticate the users"}


@pytest.fixture
def asked(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a prompt on each of three days."""
    monkeypatch.chdir(repository)
    entries = []
    for number, (day, text) in enumerate(DAYS.items()):
        at = f"{day}T09:00:00.000Z"
        entries += [prompt(2 * number + 1, text, timestamp=at), answer(2 * number + 2, "Done.", timestamp=at)]
    entries.append(prompt(9, "<command-name>/compact</command-name>", timestamp="2026-03-16T09:00:00.000Z"))
    assert run(["import", str(write_transcript(tmp_path / f"{SESSION}.jsonl", *entries))]) == 0
    return repository


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("words", "turns"),
    [
        ((), ["T3", "T2", "T1"]),
        (("2026-03-14",), ["T2"]),
        (("write", "PARSER"), ["T2"]),
        (("2026-03-14", "login"), []),
        (("--session", SESSION[:8], "--limit", "1"), ["T3"]),
        (("--session", "ffff"), []),
        (("--all-projects", "login"), ["T1"]),
    ],
)
@pytest.mark.usefixtures("asked")
def test_turns_by_time_words_and_session(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], turns: list[str]
) -> None:
    assert [entry["ref"] for entry in printed(capsys, "log", *words)] == turns


@pytest.mark.usefixtures("asked")
def test_sessions_and_a_search_without_words(capsys: pytest.CaptureFixture[str]) -> None:
    (session,) = printed(capsys, "sessions")
    assert (session["session_id"], session["turns"], session["text"]) == (SESSION, 4, "Plan the login")
    assert [entry["ref"] for entry in printed(capsys, "search", "--since", "2026-03-14T00:00")] == ["T3", "T2"]
    assert printed(capsys, "search") == printed(capsys, "log")
    assert run(["log", "yesterday"]) == 0


@pytest.mark.usefixtures("asked")
def test_a_session_of_one_turn_has_one_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = SESSION.replace("0", "7")
    assert run(["import", str(write_transcript(tmp_path / "other.jsonl", prompt(20, "Once", sessionId=other)))]) == 0
    capsys.readouterr()
    assert run(["sessions"]) == 0
    assert {line.split("  20")[0].strip() for line in capsys.readouterr().out.splitlines()} == {"4 turns", "1 turn"}


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("session", [SESSION, SESSION[:6], "2026-03-14"])
def test_a_preview_is_of_a_session_by_its_id_its_begin_or_a_time(
    capsys: pytest.CaptureFixture[str], session: str
) -> None:
    assert run(["preview", "--session", session]) == 0
    assert "Write the parser" in capsys.readouterr().out
    assert run(["preview", "--session", "2026-03-12"]) == 1
    assert run(["preview", "--session", "ffff"]) == 1


@pytest.mark.usefixtures("asked")
def test_the_begin_of_a_word_is_enough_in_a_short_query(capsys: pytest.CaptureFixture[str]) -> None:
    assert [hit["ref"] for hit in printed(capsys, "search", "auth", "--limit", "1")] == ["S5"]
