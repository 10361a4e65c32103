from __future__ import annotations

from typing import Any

import pytest

from unified_state.constraints.rules.judge_call import Forms, Judge
from unified_state.model.constraint import EnforcedRow

ROOT = "/project"


def constraint(mode: str = "deny", ref: str = "C1", **patterns: tuple[str, ...]) -> EnforcedRow:
    """A constraint with these patterns."""
    return EnforcedRow(ref, "a rule", "me", "user_said", "2026-01-01T00:00:00Z", mode, mode).replace(**patterns)


def locate(path: str, folder: str) -> Forms:
    """Where a path leads in a world without links and `..`."""
    below = path if path.startswith("/") else "/".join(filter(None, (ROOT, folder, path)))
    return Forms((below,), (below.removeprefix(ROOT + "/"),) if below.startswith(ROOT + "/") else ())


def judged(tool: str, given: dict[str, Any], *constraints: EnforcedRow) -> list[tuple[str, str]]:
    """The refs of the constraints that a call is about, each with what was matched."""
    return [(breach.constraint.ref, breach.matched) for breach in Judge(tool, given, locate).breaches(constraints)]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "/project/migrations/1.sql"}),
        ("Edit", {"file_path": "migrations/a/1.sql"}),
        ("NotebookEdit", {"notebook_path": "/project/migrations/a.ipynb"}),
        ("Bash", {"command": "echo x > migrations/1.sql"}),
        ("Bash", {"command": "cd migrations && rm 1.sql"}),
        ("Bash", {"command": "rm -rf migrations"}),
        ("Bash", {"command": "sed -i s/a/b/ /project/migrations/1.sql"}),
        ("Bash", {"command": "git -C migrations checkout -- 1.sql"}),
    ],
)
def test_paths_alone_are_about_what_changes_files(tool: str, given: dict[str, Any]) -> None:
    assert judged(tool, given, constraint(paths=("migrations/**",)))


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "/project/migrations/1.sql"}),
        ("Grep", {"path": "migrations", "pattern": "x"}),
        ("Write", {"file_path": "/elsewhere/migrations/1.sql"}),
        ("Write", {"file_path": "/project/doc.md", "content": "migrations/1.sql"}),
        ("Bash", {"command": "cat migrations/1.sql > copy.sql"}),
        ("Bash", {"command": "echo 'rm migrations/1.sql'"}),
    ],
)
def test_paths_alone_are_about_nothing_else(tool: str, given: dict[str, Any]) -> None:
    assert judged(tool, given, constraint(paths=("migrations/**",))) == []


def test_a_tool_and_a_path_have_to_fit_both() -> None:
    reading = constraint(tools=("Read",), paths=(".env",))
    assert judged("Read", {"file_path": "/project/a/.env"}, reading)
    assert judged("Read", {"file_path": "/project/a"}, reading) == []
    assert judged("Write", {"file_path": "/project/.env"}, reading) == []


def test_a_command_and_a_path_have_to_fit_the_same_command() -> None:
    both = constraint(commands=("psql",), paths=("prod/**",))
    assert judged("Bash", {"command": "psql -f prod/a.sql"}, both) == [("C1", "psql prod/a.sql")]
    assert judged("Bash", {"command": "psql -f test/a.sql; cat prod/a.sql"}, both) == []


def test_a_tool_is_meant_by_its_name_or_a_part_of_it() -> None:
    assert judged("mcp__github__create_issue", {}, constraint(tools=("mcp__github__*",)))
    assert judged("WebFetch", {"url": "x"}, constraint(tools=("WebFetch", "WebSearch")))
    assert judged("webfetch", {}, constraint(tools=("WebFetch",))) == []


def test_an_absolute_pattern_is_about_the_whole_machine() -> None:
    assert judged("Write", {"file_path": "/etc/hosts"}, constraint(paths=("/etc/**",)))
    assert judged("Write", {"file_path": "/project/etc/hosts"}, constraint(paths=("/etc/**",))) == []
    assert judged("Write", {"file_path": "/etc/hosts"}, constraint(paths=("/etc",)))
    assert judged("Bash", {"command": "rm -rf /etc"}, constraint(paths=("/etc/hosts",)))


def test_a_folder_that_holds_what_is_protected_is_not_removed() -> None:
    assert judged("Bash", {"command": "rm -rf src"}, constraint(paths=("src/db/**",)))
    assert judged("Bash", {"command": "rm -rf doc"}, constraint(paths=("src/db/**",))) == []
    assert judged("Bash", {"command": "touch src"}, constraint(paths=("src/db/**",))) == []


def test_the_strictest_is_told_first() -> None:
    rules = [constraint("warn", "C1", tools=("*",)), constraint("deny", "C2", tools=("Bash",)),
             constraint("ask", "C3", commands=("ls",))]  # fmt: skip
    assert [ref for ref, _ in judged("Bash", {"command": "ls"}, *rules)] == ["C2", "C3", "C1"]


def test_commands_are_about_the_shell_alone() -> None:
    assert judged("Write", {"file_path": "a", "content": "git push --force"}, constraint(commands=("git push",))) == []


def test_one_of_several_patterns_is_enough() -> None:
    several = constraint(commands=("npm publish", "git push --force"))
    assert judged("Bash", {"command": "git push -f"}, several) == [("C1", "git push --force")]


@pytest.mark.parametrize(
    "command",
    [
        "git push $'\\x2df'",
        "git push $'\\055f'",
        "$'\\x67it' push -f",
        "function f { git push -f; }; f",
        "printf '%s\\n' 'git push -f' | sh",
        "printf 'git %s %s\\n' push -f | sh",
        "echo -e 'git push\\x20-f' | sh",
        "bash /dev/stdin <<< 'git push -f'",
        ". /dev/stdin <<< 'git push -f'",
        "strace -o log git push -f",
    ],
)
def test_a_command_is_seen_however_the_shell_is_given_it(command: str) -> None:
    assert judged("Bash", {"command": command}, constraint(commands=("git push --force",)))


@pytest.mark.parametrize(
    "command",
    [
        "find migrations -exec rm {} +",
        "find migrations -type f | sort | xargs rm",
        "find migrations -exec sh -c 'rm \"$1\"' _ {} ';'",
        "find db -type f -exec sed -i s/a/b/ {} +",
        "grep -rl a migrations | xargs sed -i s/a/b/",
        "echo migrations/1.sql | xargs -I% rm %",
        "curl -omigrations/1.sql https://example.com",
        "wget -P migrations https://example.com/1.sql",
        "tar xzf a.tgz -C migrations",
        "unzip a.zip -d migrations",
        "patch migrations/1.sql < a.diff",
        "patch -p1 <<'P'\n+++ b/migrations/1.sql\nP",
        "sort -o migrations/1.sql a",
        "git clean -fd",
        "git stash pop",
        "awk -i inplace '{print}' migrations/1.sql",
    ],
)
def test_a_path_is_seen_wherever_a_program_is_given_it(command: str) -> None:
    assert judged("Bash", {"command": command}, constraint(paths=("migrations/**", "db/migrations/**")))


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.pyc' -delete",
        "find . -name '*.pyc' -exec rm {} +",
        "find . -path ./migrations -prune -o -name '*.tmp' -exec rm {} +",
        "find migrations -type f | xargs cat",
        "curl -sSL https://example.com/migrations/1.sql",
        "tar -C migrations -czf /tmp/a.tgz .",
        "unzip -l a.zip -d migrations",
        "patch --dry-run migrations/1.sql < a.diff",
        "sort migrations/1.sql",
        "git clean -nd",
        "git stash list",
        "perl -Mstrict -ne 'print' migrations/1.sql",
    ],
)
def test_a_path_that_is_only_read_passes(command: str) -> None:
    assert judged("Bash", {"command": command}, constraint(paths=("migrations/**",))) == []


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__filesystem__write_file", {"path": "/project/migrations/1.sql", "content": "x"}),
        ("mcp__fs__deleteFile", {"filePath": "migrations/1.sql"}),
        ("mcp__fs__write_files", {"files": [{"path": "a"}, {"path": "migrations/1.sql"}]}),
        ("mcp__fs__remove", {"paths": ["a", "migrations/1.sql"]}),
        ("mcp__fs__edit", {"uri": "file:///project/migrations/1.sql"}),
        ("mcp__fs__move_file", {"source": "migrations/1.sql", "destination": "a"}),
        ("mcp__fs__copy_file", {"source": "a", "destination": "migrations/1.sql"}),
    ],
)
def test_paths_alone_are_about_tools_of_servers_that_change_files(tool: str, given: dict[str, Any]) -> None:
    assert judged(tool, given, constraint(paths=("migrations/**",)))


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__filesystem__read_file", {"path": "migrations/1.sql"}),
        ("mcp__filesystem__write_file", {"path": "a", "content": "migrations/1.sql"}),
        ("mcp__fs__copy_file", {"source": "migrations/1.sql", "destination": "a"}),
        ("mcp__fs__get_last_update", {"path": "migrations"}),
        ("mcp__db__run", {"path": "migrations"}),
    ],
)
def test_paths_alone_are_not_about_tools_of_servers_that_read(tool: str, given: dict[str, Any]) -> None:
    assert judged(tool, given, constraint(paths=("migrations/**",))) == []
