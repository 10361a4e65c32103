from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.capture.rules.call_errors import call_key, excerpt, failed_call, subject

LONG = "ok  \n" * 900


def test_a_failed_command_is_observed_evidence() -> None:
    fact = failed_call("Bash", {"command": "make\n  test"}, "Exit code 2\nno rule")
    assert (fact.kind, fact.origin, fact.status) == ("evidence", "observed", "active")
    assert fact.body == {"type": "error", "content": "Exit code 2\nno rule", "source": "Bash: make test"}


def test_a_failed_edit_names_its_file() -> None:
    fact = failed_call(
        "Edit", {"file_path": "/a/b.py", "old_string": "x"}, "<tool_use_error>Not found</tool_use_error>"
    )
    assert (fact.body["source"], fact.files) == ("Edit: /a/b.py", ("/a/b.py",))


def test_what_never_ran_is_settled_from_the_beginning() -> None:
    result = "<tool_use_error>Sibling tool call errored</tool_use_error>"
    assert failed_call("Bash", {"command": "ls"}, result).status == "resolved"


def test_of_a_long_result_the_failure_is_kept() -> None:
    kept = excerpt(f"{LONG}  --- FAIL: TestPrice (0.00s)\n    price.go:7: want 3\n{'x' * 3000}")
    assert kept.startswith("--- FAIL: TestPrice")
    assert len(kept) <= 1_000


def test_of_a_long_result_without_a_failure_whole_lines_of_the_end_are_kept() -> None:
    kept = excerpt("\n".join(f"line {number}" for number in range(2_000)))
    assert kept.endswith("line 1999")
    assert kept.startswith("line ")


def test_a_call_that_nothing_is_known_of_is_told_anyway() -> None:
    assert failed_call("", {}, "").body == {"type": "error", "content": "(it said nothing)", "source": "a tool"}


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
    assert call_key(fields) == key


@given(st.text(), st.text())
def test_whatever_failed_the_quote_stands_in_the_result(result: str, command: str) -> None:
    fact = failed_call("Bash", {"command": command}, result)
    assert fact.quote in result
    assert "\n" not in subject("Bash", {"command": command})
