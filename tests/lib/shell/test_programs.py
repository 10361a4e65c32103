from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.shell.command_names import only_prints, programs


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("LANG=C go test ./... | tail -3", ["go test"]),
        ("cd src && git log --oneline", ["git log"]),
        ("for f in *; do git show HEAD; done", ["git show"]),
        ("git fetch --all\ngit merge main", ["git fetch", "git merge"]),
        ("git commit -m 'fix; do log it && git push'", ["git commit"]),
        ("cat <<EOF\ngit push origin\nEOF", []),
        ("./run all", []),
        ("ls -la", []),
        ("jq 'map({ id: 1 })'", []),
        ("\x1b[31mrm all", []),
        ("npm run\u202e", []),
        ("", []),
    ],
)
def test_programs_are_known_by_their_first_two_words(command: str, found: list[str]) -> None:
    assert list(programs(command)) == found


@pytest.mark.parametrize(
    "command", ["cat notes.md", "git diff | grep -n Error", "cd src && /usr/bin/grep -r error:", ""]
)
def test_a_command_may_only_show_what_lies_somewhere(command: str) -> None:
    assert only_prints(command)


@pytest.mark.parametrize("command", ["make test", "pytest -q | tail", "git pull && make"])
def test_a_command_that_does_something_does_not_only_show(command: str) -> None:
    assert not only_prints(command)


@given(st.text())
def test_any_text_can_be_a_command(command: str) -> None:
    only_prints(command)
    assert all(len(program.split()) == 2 for program in programs(command))
