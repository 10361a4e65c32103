from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.shell import shell_commands
from unified_state.lib.shell.shell_commands import command_key, commands_run, only_prints, simple_commands
from unified_state.lib.shell.shell_line import UnreadableError


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


@pytest.mark.parametrize("other", ["pytest  -q\n tests", "pytest -q tests 2>&1", " pytest -q tests "])
def test_white_space_and_where_errors_go_make_no_other_command(other: str) -> None:
    assert command_key("pytest -q tests") == command_key(other)


@pytest.mark.parametrize("other", ["pytest -q tests | tail -5", "pytest -q tests || true", "pytest -q"])
def test_what_can_hide_a_failure_makes_another_command(other: str) -> None:
    assert command_key("pytest -q tests") != command_key(other)


@given(st.text(alphabet="ab '\"\\\n;|&<>EOF-=()`$"))
def test_any_line_gives_commands_with_words(line: str) -> None:
    assert all(words for words in simple_commands(line))


@pytest.mark.parametrize(
    "command",
    ["cat notes.md", "git diff | grep -n Error", "cd src && /usr/bin/grep -r error:", "cat a; printf '--'; nl b", ""],
)
def test_a_command_may_only_show_what_lies_somewhere(command: str) -> None:
    assert only_prints(command)


@pytest.mark.parametrize("command", ["make test", "pytest -q | tail", "git pull && make"])
def test_a_command_that_does_something_does_not_only_show(command: str) -> None:
    assert not only_prints(command)


@given(st.text())
def test_any_text_can_be_a_command(command: str) -> None:
    assert only_prints(command) in {True, False}


@pytest.mark.parametrize(
    "line",
    [
        "git push",
        "A=1 B='2 3' git push",
        "if true; then git push; fi",
        "while ! git push; do sleep 1; done",
        "f() { git push; }",
        "sudo -u root -E git push",
        "sudo sh -c 'git push'",
        "env -i -u X FOO=1 git push",
        "timeout -s KILL 5s git push",
        "nohup nice -n 5 git push &",
        "time -p git push",
        "coproc git push",
        "trap 'git push' EXIT",
        "parallel -j 2 git push ::: a b",
        "xargs -n 1 -I{} git push",
        "bash -lc 'git push'",
        "bash -o pipefail -ec 'true; git push'",
        "sh -c \"sh -c 'git push'\"",
        "eval 'git' push",
        "find . -name x -exec git push \\;",
        "flock /tmp/lock git push",
        "flock /tmp/lock -c 'git push'",
        "su root -c 'git push'",
        "bash <<'X'\ngit push\nX",
        "bash -s <<< 'git push'",
        "echo 'git push' | bash",
        "echo 'git push' | sudo bash",
        "cat <<X | sh\ngit push\nX",
        "command git push",
        "exec -a x git push",
        "watch -n 2 git push",
        "stdbuf -oL git push",
    ],
)
def test_what_a_line_runs_in_the_end_is_found(line: str) -> None:
    assert ["git", "push"] in [command.words[:2] for command in commands_run(line)]


@pytest.mark.parametrize(
    "line",
    [
        "echo git push",
        "echo 'a; git push'",
        "command -v git push",
        "bash script.sh git push",
        "cat <<'X'\ngit push\nX",
        "printf 'git push' > script.sh",
        "grep 'git push' | cat",
        "git commit -m 'x && git push'",
    ],
)
def test_what_only_stands_in_a_line_is_not_run(line: str) -> None:
    assert ["git", "push"] not in [command.words[:2] for command in commands_run(line)]


WRAPPERS, SHELLS = shell_commands._WRAPPERS, shell_commands._SHELLS
OPTIONS = {"-c", "-s", "--", "-", *shell_commands._SHELL_VALUES, *" ".join(WRAPPERS.values()).split()}


@pytest.mark.parametrize("program", sorted({*WRAPPERS, *SHELLS, *shell_commands._COMMAND_OPTION, "find", "git", "."}))
def test_a_command_that_ends_behind_an_option_hides_no_other(program: str) -> None:
    for option in sorted(OPTIONS):
        for line in (f"{program} {option}", f"{program} -x {option}", f"echo x | {program} {option}"):
            assert ["git", "push"] in [command.words[:2] for command in commands_run(f"{line}; git push")], line


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(
    "piece",
    ["git rebase -x git ", "find -exec ", "find -exec find ; -exec ", "sudo ", "eval ", "bash -c ",
     "flock -c ", "echo a | bash | ", "bash <<< ", "watch ", "xargs find -exec "],
)  # fmt: skip
def test_no_nesting_makes_it_explode(piece: str) -> None:
    with suppress(UnreadableError):
        for count, _ in enumerate(commands_run(piece * (50_000 // len(piece)))):
            assert count < 50_000
