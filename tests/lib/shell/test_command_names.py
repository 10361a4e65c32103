from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.shell.command_names import command_key, simple_commands

MESSAGE = """git add . && git commit -m "$(cat <<'EOF'
Say "git push; rm -rf" and 'more'

&& git revert HEAD
EOF
)" && git push"""


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("make test", [["make", "test"]]),
        ("cd a && make -k; echo 'x; y' | cat", [["cd", "a"], ["make", "-k"], ["echo", "x; y"], ["cat"]]),
        ('git commit -m "a \\" b"', [["git", "commit", "-m", 'a " b']]),
        ("A=1 B=2 sudo make", [["make"]]),
        ("if make; then echo done; fi", [["if", "make"], ["echo", "done"], ["fi"]]),
        ("a\\\n b", [["a", "b"]]),
        ("cat <<EOF\ngit commit\nEOF\nls", [["cat"], ["ls"]]),
        ("cat <<< git\ngit status", [["cat"], ["git", "status"]]),
        ("'unclosed git commit", [["unclosed git commit"]]),
        ("", []),
        ("A=1", []),
        ("cat < a.py", [["cat", "a.py"]]),
        ("make 2>&1 >/dev/null", [["make"]]),
        ("echo $(git status)", [["git", "status"], ["echo", "$()"]]),
    ],
)
def test_the_simple_commands_of_a_line(line: str, commands: list[list[str]]) -> None:
    assert list(simple_commands(line)) == commands


def test_a_message_in_a_heredoc_holds_no_commands() -> None:
    names = [words[:2] for words in simple_commands(MESSAGE)]
    assert names == [["git", "add"], ["cat"], ["git", "commit"], ["git", "push"]]


@pytest.mark.parametrize("other", ["pytest  -q\n tests", "pytest -q tests 2>&1", " pytest -q tests "])
def test_white_space_and_where_errors_go_make_no_other_command(other: str) -> None:
    assert command_key("pytest -q tests") == command_key(other)


@pytest.mark.parametrize("other", ["pytest -q tests | tail -5", "pytest -q tests || true", "pytest -q"])
def test_what_can_hide_a_failure_makes_another_command(other: str) -> None:
    assert command_key("pytest -q tests") != command_key(other)


@given(st.text(alphabet="ab '\"\\\n;|&<>EOF-=()`$"))
def test_any_line_gives_commands_with_words(line: str) -> None:
    assert all(words for words in simple_commands(line))
