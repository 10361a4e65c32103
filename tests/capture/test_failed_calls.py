from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.capture.rules.failed_calls import (
    call_key,
    did_not_run,
    excerpt,
    failed_call,
    is_check,
    is_failed_check,
    refusal,
    refused_call,
    subject,
)
from unified_state.hosts.transcripts.rules.call_effects import call_of

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, ...)."
)


def test_the_users_own_words_are_the_reason() -> None:
    assert refusal(f"{REFUSED} To tell you how to proceed, the user said:\npull rebase first") == "pull rebase first"


def test_what_the_client_adds_to_them_is_not() -> None:
    note = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
    assert refusal(f"{REFUSED} To tell you how to proceed, the user said:\nnot yet{note}") == "not yet"


def test_a_refusal_without_a_word_has_no_reason() -> None:
    assert refusal(f"{REFUSED} STOP what you are doing and wait for the user to tell you how to proceed.") == ""


@pytest.mark.parametrize("result", ["Exit code 1\nthe user said:\nno", "", "make: the user doesn't want to proceed"])
def test_another_error_is_no_refusal(result: str) -> None:
    assert refusal(result) is None


def test_a_call_that_was_called_off_for_another_did_not_run() -> None:
    assert did_not_run("<tool_use_error>Sibling tool call errored</tool_use_error>")
    assert not did_not_run("<tool_use_error>File does not exist.</tool_use_error>")


LONG = "ok  \n" * 900


def test_a_failed_command_is_observed_evidence() -> None:
    fact = failed_call(call_of("Bash", {"command": "make\n  test"}), "Exit code 2\nno rule")
    assert (fact.kind, fact.origin, fact.status) == ("evidence", "observed", "active")
    assert fact.body == {"type": "error", "content": "Exit code 2\nno rule", "source": "Bash: make test"}


def test_what_never_ran_is_settled_from_the_beginning() -> None:
    result = "<tool_use_error>Sibling tool call errored</tool_use_error>"
    assert failed_call(call_of("Bash", {"command": "ls"}), result).status == "resolved"


def test_of_a_long_result_the_failure_is_kept() -> None:
    kept = excerpt(f"{LONG}  --- FAIL: TestPrice (0.00s)\n    price.go:7: want 3\n{'x' * 3000}")
    assert kept.startswith("--- FAIL: TestPrice")
    assert len(kept) <= 1_000


def test_of_a_long_result_without_a_failure_whole_lines_of_the_end_are_kept() -> None:
    kept = excerpt("\n".join(f"line {number}" for number in range(2_000)))
    assert kept.endswith("line 1999")
    assert kept.startswith("line ")


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"command": "make  test 2>&1"}, "make test"),
        ({"file_path": "/a.py", "old_string": "x"}, "/a.py"),
        ({"notebook_path": "/a.ipynb"}, "/a.ipynb"),
        ({"pattern": "x", "path": "/b"}, "x /b"),
        ({"todos": []}, ""),
    ],
)
def test_what_makes_two_calls_the_same(fields: dict[str, Any], key: str) -> None:
    assert call_key(call_of("", fields)) == key


@given(st.text(), st.text())
def test_whatever_failed_the_quote_stands_in_the_result(result: str, command: str) -> None:
    fact = failed_call(call_of("Bash", {"command": command}), result)
    assert fact.quote in result
    assert "\n" not in subject(call_of("Bash", {"command": command}))


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


def test_a_refused_call_has_the_users_reason() -> None:
    fact = refused_call(call_of("Bash", {"command": "git push"}), "The user doesn't want …\nfirst pull", "first pull")
    assert (fact.origin, fact.body["attempt"]) == ("user_said", "Bash: git push")
    assert (fact.body["outcome"], fact.quote) == ("the user refused: first pull", "first pull")


def test_a_call_refused_without_a_word_says_so() -> None:
    fact = refused_call(call_of("Edit", {"file_path": "/a.py"}), "The user doesn't want to proceed", "")
    assert (fact.body["outcome"], fact.files) == ("the user refused, without a word", ("/a.py",))
