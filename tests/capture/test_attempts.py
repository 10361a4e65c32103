from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.capture.rules.attempts import failed_edit, is_check, is_failed_check, refused_call

EXAMPLES = Path(__file__).parent / "examples" / "failed_checks.tsv"
LEAST_PRECISION = 0.9


@pytest.mark.parametrize(
    "command",
    ["pytest -q", "cd a && go test ./...", "npm run build", "make check", "mise run fmt && mise run lint 2>&1",
     "python -m pytest", "cargo clippy", "uv run pytest", "./gradlew test", "tsc --noEmit"],
)  # fmt: skip
def test_tests_linters_and_compilers_are_checks(command: str) -> None:
    assert is_check(command)


@pytest.mark.parametrize(
    "command",
    ["ls test", "git status", "cat test.py", "python a.py", "echo make test", "gh pr checks", "", "npm install"],
)
def test_other_commands_are_none(command: str) -> None:
    assert not is_check(command)


def test_what_is_told_as_a_failed_attempt_was_one() -> None:
    lines = [line for line in EXAMPLES.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found = [
        label for label, command, result in (line.split("\t") for line in lines) if is_failed_check(command, result)
    ]
    right = found.count("edit")
    print(f"failed edits: precision {right}/{len(found)}")
    assert right / len(found) >= LEAST_PRECISION
    assert right == sum(line.startswith("edit\t") for line in lines)


def test_an_attempt_says_what_was_edited_why_and_how_it_failed() -> None:
    fact = failed_edit("go test ./...", "--- FAIL: TestPrice", ["b.go", "a.go", "a.go"], "I round\nthe price first.")
    assert (fact.kind, fact.origin, fact.files) == ("attempt", "observed", ("a.go", "b.go"))
    assert fact.body["attempt"] == 'edited a.go, b.go: "I round the price first."'
    assert fact.body["outcome"] == "go test ./... failed: --- FAIL: TestPrice"


def test_of_many_files_the_newest_are_named() -> None:
    fact = failed_edit("make test", "no", [f"{number}.py" for number in range(9)], "")
    assert fact.body["attempt"] == "edited 8.py, 7.py, 6.py, 5.py, 4.py, 3.py and 3 more files"


def test_a_refused_call_has_the_users_reason() -> None:
    fact = refused_call("Bash", {"command": "git push"}, "The user doesn't want …\nfirst pull", "first pull")
    assert (fact.origin, fact.body["attempt"]) == ("user_said", "Bash: git push")
    assert (fact.body["outcome"], fact.quote) == ("the user refused: first pull", "first pull")


def test_a_call_refused_without_a_word_says_so() -> None:
    fact = refused_call("Edit", {"file_path": "/a.py"}, "The user doesn't want to proceed", "")
    assert (fact.body["outcome"], fact.files) == ("the user refused, without a word", ("/a.py",))
