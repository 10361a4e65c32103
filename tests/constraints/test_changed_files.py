from __future__ import annotations

import pytest

from unified_state.constraints.rules.changed_files import changed_files
from unified_state.lib.shell.shell_commands import commands_run


def changed(line: str) -> list[tuple[str, str]]:
    return [(file.folder, file.path) for command in commands_run(line) for file in changed_files(command)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("echo x > a", [("", "a")]),
        ("cd b && rm -rf a", [("b", "a")]),
        ("rm -- -a", [("", "-a")]),
        ("cat a | tee b", [("", "b")]),
        ("cp a b c", [("", "c")]),
        ("cp -t c a b", [("", "c")]),
        ("mv a b", [("", "a"), ("", "b")]),
        ("sed -i s/a/b/ c", [("", "s/a/b/"), ("", "c")]),
        ("perl -pi -e x c", [("", "x"), ("", "c")]),
        ("git -C b rm a", [("b", "a")]),
        ("git checkout -- a", [("", "a")]),
        ("find a -name x -delete", [("", "a/x")]),
        ("curl -o a http://x", [("", "a")]),
        ("dd if=a of=b", [("", "b")]),
        ("sudo bash -c 'echo > a'", [("", "a")]),
    ],
)
def test_what_a_line_changes_is_found(line: str, expected: list[tuple[str, str]]) -> None:
    assert changed(line) == expected


@pytest.mark.parametrize(
    "line", ["cat a", "cp a", "sed s/a/b/ c", "git add a", "ls a", "find a", "git log -- a", "x < a"]
)
def test_what_a_line_only_reads_is_not_changed(line: str) -> None:
    assert changed(line) == []
