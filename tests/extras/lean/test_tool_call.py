from __future__ import annotations

import pytest

from unified_state.extras.lean.rules.shorten import LEVELS, shorten
from unified_state.extras.lean.rules.tool_call import call_of, shows_files

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
        "git show :a.py", "git show :0:src/a.py", "git cat-file blob abc123", "git cat-file -p abc123",
        "git show HEAD:a.py | grep -A30 'def f'", "grep -nA 40 'def f' a.py", "rg --context=20 pool a.py",
        "grep -n '' a.py", "rg --passthru pool a.py", "cat a.py | grep -n .",
        "cat a.py | awk 'NR<80'", "cat a.py | awk '{print NR, $0}'", "awk '/^def f/{f=1} f' a.py",
        "cut -c1-120 a.py", "cut -c 1-120 a.py", "cat a.py | cut -c1-120", "tr -d '\\r' < a.py",
        "perl -ne 'print if 1..80' a.py", "perl -pe 's/\\t/    /' a.py", "jq . package.json", "cat a.json | jq .",
        "python -m json.tool a.json", "python -c \"print(open('a.py').read()[1000:3000])\"",
        "python3 - <<'EOF'\ns = open('a.py').read()\nprint(s[:4000])\nEOF",
        "node -e \"console.log(require('fs').readFileSync('a.js', 'utf8'))\"",
        "gunzip -c a.py.gz", "unzip -p a.zip a.py", "tar xOf a.tar a.py", "gsed -n 1,80p a.py",
        "Get-Content -Raw a.ps1", "get-content a.ps1", "pwsh -NoProfile -Command '(Get-Content a.ps1)[5..90]'",
        "powershell.exe Get-Content a.ps1", "cmd /c type a.txt", "wsl cat a.py", "docker-compose exec web cat a.py",
        "uv run cat a.py", "uv run python - <<'EOF'\nprint(open('a.py').read())\nEOF",
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
        "grep -A3 pool a.py", "go test ./... | grep -A30 FAIL", "git show HEAD -- a.py", "git show HEAD -- ':!docs'",
        "git stash show -p", "git log -p", "curl -s x | jq .", "jq .items a.json", "cat a.csv | cut -d, -f2",
        "python -c \"import json; print(len(json.load(open('a.json'))))\"", "python3 tool.py a.json",
        "cat a.txt | tr a-z A-Z", "perl -ne 'print \"$1\\n\" if /x(.*)/' a.py", "uv run pytest", "tar tf a.tar",
    ],
)  # fmt: skip
def test_what_a_command_makes_of_a_file_is_its_own_output(command: str) -> None:
    assert not shows_files(call_of("Bash", {"command": command}))


@pytest.mark.parametrize("tool", ["mcp__files__list_directory", "mcp__files__search_files", "mcp__x__get_issue"])
def test_the_tools_of_servers_that_show_no_file_may_be_shortened(tool: str) -> None:
    assert not shows_files(call_of(tool, {}))


@pytest.mark.parametrize(
    "command",
    [
        "cat > b.py <<'EOF'\n" + "x = 1\n" * 4_000 + "EOF\ncat a.py",
        "python - <<'EOF'\n" + "x = 1\n" * 40_000 + "EOF\ncat a.py",
        "echo " + "$(" * 40 + "cat a.py" + ")" * 40,
    ],
    ids=["long", "very long", "deep"],
)
def test_what_a_command_that_is_too_long_or_too_deep_to_be_read_prints_passes_untouched(command: str) -> None:
    assert all(shorten("Bash", {"command": command}, LONG, level) is None for level in LEVELS)
