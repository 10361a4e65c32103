from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.hosts.transcripts.rules.failure_lines import failing_lines, names_place

GO = """\
--- FAIL: TestResume (0.46s)
    hooks.go:155: started
    resume_test.go:276: output should say 'Session restored', got: Switched
FAIL entire.io/cli 1.604s"""


def test_lines_that_name_a_place_come_first() -> None:
    assert failing_lines(GO, "go test ./...", is_error=False) == [
        "hooks.go:155: started",
        "resume_test.go:276: output should say 'Session restored', got: Switched",
        "--- FAIL: TestResume (0.46s)",
    ]


def test_of_what_the_client_truncated_no_part_of_a_line_is_told() -> None:
    output = GO.replace(
        "FAIL entire", "--- FAIL: TestRes\n\n... [919 characters truncated] ...\n\na.go:7: in it\nFAIL entire"
    )
    assert failing_lines(output, "make", is_error=True) == failing_lines(GO, "make", is_error=True)


def test_of_several_lines_about_one_place_the_first_is_told() -> None:
    output = "error: it failed\na.py:7: first\na.py:7: second\na.py:9: third"
    assert failing_lines(output, "make", is_error=True) == ["a.py:7: first", "a.py:9: third", "error: it failed"]


def test_an_error_that_no_line_tells_of_is_told_by_its_last_line() -> None:
    assert failing_lines("one\nno such container", "docker stop x", is_error=True) == ["no such container"]


def test_what_only_shows_errors_has_none() -> None:
    assert failing_lines("a.py:7: raise ValueError: bad", "grep -n Error a.py", is_error=False) == []
    assert failing_lines("grep: a.py: error: no such file", "grep -n Error a.py", is_error=True) != []


def test_a_name_that_ends_with_error_is_no_failure() -> None:
    passed = "(pass) reads fail_on_error: true\nRan 125 tests across 3 files."
    assert failing_lines(passed, "bun test", is_error=False) == []
    assert failing_lines(f"{passed}\nerror: no test found", "bun test", is_error=False) == ["error: no test found"]


@pytest.mark.parametrize("output", ["<tool_use_error>File does not exist.", "The user doesn't want to proceed with it"])
def test_what_never_ran_has_no_failure(output: str) -> None:
    assert failing_lines(output, "make", is_error=True) == []


@pytest.mark.parametrize("line", ["src/a.py:12: x", "a.go:1:5: undefined: y"])
def test_a_place_is_a_file_and_a_line(line: str) -> None:
    assert names_place(line)


@pytest.mark.parametrize("line", ["src/a.py: x", "a:1: x", "12:30: x", "a.py:x: y", "a.py:1", ""])
def test_anything_else_is_no_place(line: str) -> None:
    assert not names_place(line)


@given(st.text(alphabet=st.sampled_from("aF:1.py\n Error")), st.text(), st.booleans())
def test_there_are_few_lines_and_none_is_long(output: str, command: str, is_error: bool) -> None:
    lines = failing_lines(output.strip(), command, is_error=is_error)
    assert len(lines) <= 3
    assert all(12 <= len(line) <= 200 for line in lines)
