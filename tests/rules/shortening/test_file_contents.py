from __future__ import annotations

import pytest

from unified_state.rules.shortening.call import call_of
from unified_state.rules.shortening.file_contents import shows_files
from unified_state.rules.shortening.levels import LEVELS
from unified_state.rules.shortening.shorten import shorten

LONG = "def f(x):\n    return x\n" * 4_000


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py", "cat -n a.py | head -100", "sed -n '1,80p' src/a.go", "sed -n 1,80p src/a.go | nl",
        "head -n 50 a.py",
        "head -50 a.py", "tail -20 app.log", "nl a.py", "bat a.py", "less a.py", "cd src && cat a.py",
        "cat a.py; make",
        "git show HEAD:src/a.py", "git -C x show main:a.py | head -300", "for f in *.py; do cat $f; done",
        "cat < a.py",
        "awk 'NR>=10 && NR<=90' a.py", "find . -name '*.py' -exec cat {} +", "ls *.py | xargs cat",
        "cat a.py | grep -v '^#'",
        "cat a.py 2>/dev/null", "cat a.py 2>&1 | head -30", "/bin/cat a.py", "xxd image.png",
        "tail -n +20 a.py", "sudo cat a",
        "cat 'with space.py'", "cat a.py || echo none", "make; tail -n 40 build.log",
        "bash -lc 'cat a.py'", "sh -c 'cd src && cat a.py'", "timeout 5 cat a.py", "nohup cat a.py", "env -i cat a.py",
        "sudo -u ann cat a.py", "eval 'cat a.py'", "docker exec web cat /app/a.py", "ssh host 'cat a.py'",
        "awk '/^def f/,/^$/' a.py", "awk 1 a.py", "awk '{print}' a.py", "grep -v '^#' a.py", "xzcat a.py.xz",
    ],
)  # fmt: skip
def test_what_shows_a_file_passes_untouched(command: str) -> None:
    assert shows_files(call_of("Bash", {"command": command}))
    assert all(shorten("Bash", {"command": command}, LONG, level) is None for level in LEVELS)


@pytest.mark.parametrize(
    "tool",
    [
        "Read", "Edit", "MultiEdit", "Write", "NotebookRead", "NotebookEdit", "mcp__files__read_text_file",
        "mcp__github__get_file_contents", "mcp__serena__read_file", "mcp__x__readFile", "mcp__x__view-file",
    ],
)  # fmt: skip
def test_the_tools_that_show_files_pass_untouched(tool: str) -> None:
    assert all(shorten(tool, {"file_path": "/p/a.py"}, LONG, level) is None for level in LEVELS)


@pytest.mark.parametrize(
    "command",
    [
        "go test ./... 2>&1 | head -100", "git log | tail -20", "git diff HEAD~1", "cat a.json | jq .items",
        "cat a.py | grep def",
        "git show HEAD", "git show --stat HEAD~3", "git log --format='%h: %s'", "cat > a.py <<'EOF'\nx\nEOF",
        "ls | cat",
        "make | sed 's/a/b/'", "git show HEAD:a.jsonl | grep -o name", "ps aux | head -n 5",
        "find . -name '*.py'", "type -a go",
        "cat notes.txt | wc -l",
        "bash -lc 'go test ./... | tail -40'", "timeout 60 go test ./...", "ps aux | awk '{print $2}'",
        "awk '{print $2}' a.txt", "awk '{n += $1} END {printf n}' a.txt", "docker logs web", "grep -rn pool src",
        "gh pr diff | awk '/^diff/,/^index/'",
    ],
)  # fmt: skip
def test_what_a_command_makes_of_a_file_is_its_own_output(command: str) -> None:
    assert not shows_files(call_of("Bash", {"command": command}))


@pytest.mark.parametrize("tool", ["mcp__files__list_directory", "mcp__files__search_files", "mcp__x__get_issue"])
def test_the_tools_of_servers_that_show_no_file_may_be_shortened(tool: str) -> None:
    assert not shows_files(call_of(tool, {}))
