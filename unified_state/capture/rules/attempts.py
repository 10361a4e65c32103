"""Failed attempts: edits after which a check failed, and calls that the user refused.

An attempt says what was tried on which files and how it failed, so that it is not tried again in the same way.
"""

from __future__ import annotations

from unified_state.agents.transcripts.rules.failure_lines import failing_lines
from unified_state.capture.rules.call_errors import excerpt, subject
from unified_state.lib.shell.command_names import simple_commands
from unified_state.lib.text.truncate import cut, one_line
from unified_state.model.fact import Fact
from unified_state.model.item import ATTEMPT
from unified_state.model.origin import OBSERVED, USER_SAID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FAILED_EDIT, REFUSED_CALL = "failed edit", "refused call"
EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_BEGINNING = 400  # characters of an output in which a shell or a runner says that it knows no such command
_NOT_THERE = (
    "command not found", "Exit code 127", "no task ", "Missing script", "No rule to make target", "nknown command",
    "no such command",
)  # fmt: skip
_FILES = 6  # that an attempt names
_SAID_CHARACTERS, _COMMAND_CHARACTERS, _SHORT_OUTPUT = 200, 200, 300
# Programs that check work, and the words that make checks of programs which can do anything.
_CHECKERS = frozenset((
    "pytest", "tox", "nox", "jest", "vitest", "mocha", "ctest", "rspec", "phpunit", "mypy", "pyright", "ruff", "eslint",
    "tsc", "golangci-lint", "clippy", "shellcheck", "prettier", "gofmt",
))  # fmt: skip
_RUNNERS = frozenset((
    "make", "go", "cargo", "npm", "pnpm", "yarn", "bun", "npx", "mise", "just", "task", "uv", "poetry", "python",
    "python3", "mvn", "gradle", "./gradlew", "bundle", "rake", "dotnet", "swift", "bazel", "ninja", "cmake", "deno",
))  # fmt: skip
_CHECKS = (
    "test",
    "check",
    "lint",
    "build",
    "vet",
    "compile",
    "clippy",
    "pytest",
    "mypy",
    "typecheck",
    "unittest",
    "tsc",
)


def is_failed_check(command: str, result: str) -> bool:
    """Whether a command that failed has checked work, and not only was not there."""
    return is_check(command) and not any(mark in result[:_BEGINNING] for mark in _NOT_THERE)


def is_check(command: str) -> bool:
    """Whether a command checks work: runs tests, a linter, a compiler."""
    return any(_checks(words) for words in simple_commands(command))


def failed_edit(command: str, result: str, files: Sequence[str], said: str) -> Fact:
    """Edits of some files, newest last, after which a check failed; `said` is what the agent said it would do."""
    named = tuple(dict.fromkeys(reversed(files)))[:_FILES]
    more = len(set(files)) - len(named)
    told = f': "{cut(one_line(said), _SAID_CHARACTERS)}"' if said.strip() else ""
    body = {
        "attempt": f"edited {', '.join(named)}{f' and {more} more files' if more else ''}{told}",
        "outcome": f"{cut(one_line(command), _COMMAND_CHARACTERS)} failed: {_telling(excerpt(result))}",
        "command": command,
    }
    return Fact(FAILED_EDIT, ATTEMPT, OBSERVED, "active", body, excerpt(result), named)


def refused_call(tool: str, fields: dict[str, Any], result: str, reason: str) -> Fact:
    """A call that the user refused, with the reason if they gave one."""
    path = fields.get("file_path")
    body = {
        "attempt": subject(tool, fields),
        "outcome": f"the user refused: {reason}" if reason else "the user refused, without a word",
        "command": fields.get("command") if isinstance(fields.get("command"), str) else "",
    }
    files = (path,) if isinstance(path, str) else ()
    return Fact(REFUSED_CALL, ATTEMPT, USER_SAID, "active", body, reason or result.strip(), files)


def _telling(output: str) -> str:
    """Of a long output the lines that tell how it failed; all of it where none does."""
    telling = failing_lines(output, "", is_error=True) if len(output) > _SHORT_OUTPUT else []
    return "; ".join(telling) or output


def _checks(words: list[str]) -> bool:
    name = words[0].rsplit("/", 1)[-1]
    if name in _CHECKERS:
        return True
    is_runner = name in _RUNNERS or words[0] in _RUNNERS
    return is_runner and any(check in word for word in words[1:4] if " " not in word for check in _CHECKS)
