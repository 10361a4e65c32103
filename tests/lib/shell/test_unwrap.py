from __future__ import annotations

from contextlib import suppress

import pytest

from unified_state.lib.shell.shell_words import UnreadableError
from unified_state.lib.shell.unwrap import commands_run


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
        "env -S 'git push'",
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
        "git -c alias.p=push p",
        "git -c alias.p='!git push' p",
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
        "git -c alias.p=push status",
    ],
)
def test_what_only_stands_in_a_line_is_not_run(line: str) -> None:
    assert ["git", "push"] not in [command.words[:2] for command in commands_run(line)]


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(
    "piece",
    ["git -c alias.a=b a ", "find -exec ", "find -exec find ; -exec ", "sudo ", "eval ", "bash -c ", "env -S ",
     "flock -c ", "echo a | bash | ", "bash <<< ", "git -c alias.git=git git ", "watch ", "xargs find -exec "],
)  # fmt: skip
def test_no_nesting_makes_it_explode(piece: str) -> None:
    with suppress(UnreadableError):
        for count, _ in enumerate(commands_run(piece * (50_000 // len(piece)))):
            assert count < 50_000
