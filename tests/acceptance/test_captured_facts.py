"""What a session holds for certain is in the state without anybody recording it; what is likely waits for the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from .product import Project, restored, valid_state
from .transcripts import Transcript

SESSION = "5a1e0000-0000-4000-8000-00000000cafe"
QUESTIONS = [{"question": "Which store?", "options": [{"label": "SQLite"}, {"label": "Files"}]}]
ANSWER = 'Your questions have been answered: "Which store?"="SQLite". You can now continue with these answers in mind.'
PLAN = "# Cache the prices\n\n1. Read the cache\n2. Fill it"
APPROVED = f"User has approved your plan. You can now start coding.\n\n## Approved Plan:\n{PLAN}"
TODOS = [
    {"content": "Read the cache", "status": "completed", "activeForm": "Reading"},
    {"content": "Fill the cache", "status": "in_progress", "activeForm": "Filling"},
]
FAILURE = "Exit code 1\n--- FAIL: TestPrice (0.00s)\n    price_test.go:7: want 3"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.fixture
def path(project: Project) -> Path:
    """A session with one of each."""
    written = Transcript(SESSION, cwd=str(project.folder))
    written.prompt("Cache the prices.")
    written.call("AskUserQuestion", {"questions": QUESTIONS}, ANSWER)
    written.selects("Which port?", "8001")
    written.call("ExitPlanMode", {"plan": PLAN}, APPROVED)
    written.call("TodoWrite", {"todos": TODOS}, "Todos have been modified successfully.")
    written.call("Edit", {"file_path": f"{project.folder}/price.go", "new_string": "3"}, "updated")
    written.call("Bash", {"command": "go test ./..."}, FAILURE, error=True)
    written.call("Bash", {"command": "git commit -m x"}, "[main 1a2b3c4] Cache the prices\n 1 file changed")
    written.call("Bash", {"command": "git push"}, f"{REFUSED} the user said:\nnot yet", error=True)
    path = project.folder.parent / f"{SESSION}.jsonl"
    project.keep(written, path)
    return path


def test_the_state_file_has_what_was_captured(project: Project, path: Path) -> None:
    state = valid_state(project.state_path.read_bytes())
    assert [entry["decision"] for entry in state["decisions"]] == [
        "Which store? SQLite",
        "Approved plan: Cache the prices",
    ]
    assert [entry["type"] for entry in state["evidenceLedger"]] == ["error", "commit"]
    assert [entry["files"] for entry in state["failedAttempts"] if "files" in entry] == [["price.go"], []]
    assert state["workItem"] == {"title": "Cache the prices", "phase": "implementing"}
    assert state["summaries"]["pendingActions"] == ["[in progress] Fill the cache"]
    assert state["constraints"] == []
    assert project.run("validate").code == 0


def before_the_steps(brief: str) -> str:
    """What a restore says itself, without the steps that it quotes."""
    said, quotes, _ = brief.partition("[LAST STEPS]")
    assert quotes
    return said


def test_a_proposal_is_listed_and_accepted_by_one_command(project: Project, path: Path) -> None:
    (proposal,) = project.ask("inbox", "list")
    ref = proposal["id"]
    assert (proposal["decision"], proposal["quote"]) == ("Which port? 8001", '"Which port?"="8001"')
    assert "Which port? 8001" in project.run("inbox").out
    assert "8001" not in before_the_steps(restored(project, path, source="compact")["brief"])
    assert project.at_terminal("inbox", "accept", ref).code == 0
    assert project.ask("inbox", "list") == []
    brief = restored(project, path, source="compact")["brief"]
    assert f"{ref} (the user said): Which port? 8001" in brief
    assert project.run("inbox", "reject", ref).code == 2
