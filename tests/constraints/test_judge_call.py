from __future__ import annotations

from typing import Any

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
