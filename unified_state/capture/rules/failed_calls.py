"""Failed and refused tool calls: their evidence, and the attempts that failed."""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.hosts.transcripts.rules.call_effects import Call
from unified_state.ledger.rules.item_lines import telling
from unified_state.lib.shell.shell_commands import command_key, simple_commands
from unified_state.lib.text import cut, one_line
from unified_state.model.constraint import OBSERVED, USER_SAID
from unified_state.model.item import ATTEMPT, EVIDENCE, Fact

_REFUSED = "The user doesn't want to proceed with this tool use."
_DENIED, _IS_DENIED = ("Permission for this action ", "Permission to use "), " denied"
_SAID = "the user said:\n"
_NOTES = "\n\nNote: The user's next message may contain a correction or preference."
# How a client's own words begin, where the user refused its questions and said nothing.
_OF_CLIENT = ("The user wants to clarify these questions.", "The user has indicated they have provided enough answers")
# Results of calls that did not run, or were interrupted, for reasons outside the call.
_NOT_RUN = (
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled",
    "[Request interrupted by user",
    "Interrupted by user",
)


def refusal(result: str) -> str | None:
    """Return the reason of the user's refusal, "" if they gave none, or None for other results."""
    if not result.startswith(_REFUSED):
        return None
    said = result.partition(_SAID)[2].partition(_NOTES)[0].strip()
    return "" if said.startswith(_OF_CLIENT) else said


def denial(result: str) -> str | None:
    """Return why the client denied a call by its rules or its auto mode, or None for other results."""
    return one_line(result) if result.startswith(_DENIED) and _IS_DENIED in result[:_BEGINNING] else None


def did_not_run(result: str) -> bool:
    """Return whether a call never ran."""
    return result.startswith(_NOT_RUN)


ERROR = "error"
_SHORT, _EXCERPT = 1_200, 1_000  # in characters: longest result stored completely, excerpt of a longer one
_END = 8_000  # searched characters at the end of an output
_KEY_CHARACTERS, _SUBJECT_CHARACTERS = 500, 300
# Parts of lines that report a failure. The excerpt begins at the first of them.
_FAILURES = (
    "--- FAIL", "FAIL:", "FAILED", "FAILURES", "rror:", "ERROR", "rror[", "Traceback (most", "panic:", "fatal:",
    "xception:", "not ok ", "CONFLICT", "ssertion", "command not found", "No such file",
)  # fmt: skip


def failed_call(call: Call, result: str) -> Fact:
    """Return the evidence of a failed call. It is resolved immediately if the call never ran."""
    body = {"type": ERROR, "content": excerpt(result) or "(it said nothing)", "source": subject(call)}
    status = "resolved" if did_not_run(result) else "active"
    return Fact(ERROR, EVIDENCE, OBSERVED, status, body, excerpt(result), call.files)


def excerpt(result: str) -> str:
    """Return the part of a result that reports the failure, unchanged."""
    if len(result) <= _SHORT:
        return result.strip()
    after = len(result) - _END if len(result) > _END else 0
    places = [place for mark in _FAILURES if (place := result.find(mark, after)) >= 0]
    if places:
        begin = result.rfind("\n", 0, min(places)) + 1
    else:
        begin = result.find("\n", len(result) - _EXCERPT) + 1 or len(result) - _EXCERPT
    return result[begin : begin + _EXCERPT].strip()


def subject(call: Call) -> str:
    """Return the call in one line."""
    return f"{call.tool or 'a tool'}: {cut(one_line(_called(call)), _SUBJECT_CHARACTERS)}".rstrip(": ")


def call_key(call: Call) -> str:
    """Return the key that a failed call shares with the call that closes its failure: the command or the file.

    Returns "" if the call has neither.
    """
    return command_key(call.command) if call.command else (call.files[:1] or (_called(call),))[0][:_KEY_CHARACTERS]


def _called(call: Call) -> str:
    texts = (value for value in call.fields.values() if isinstance(value, str))
    return call.command or " ".join(call.files or texts)


FAILED_EDIT, REFUSED_CALL = "failed edit", "refused call"
_BEGINNING = 400  # searched beginning of an output for an unknown command
_NOT_THERE = (
    "command not found", "Exit code 127", "no task ", "Missing script", "No rule to make target", "nknown command",
    "no such command",
)  # fmt: skip
_FILES = 6  # most files named by an attempt
_SAID_CHARACTERS, _COMMAND_CHARACTERS = 200, 200
# Programs that check work, and the arguments that make general programs a check.
_CHECKERS = frozenset((
    "pytest", "tox", "nox", "jest", "vitest", "mocha", "ctest", "rspec", "phpunit", "mypy", "pyright", "ruff", "eslint",
    "tsc", "golangci-lint", "clippy", "shellcheck", "prettier", "gofmt",
))  # fmt: skip
_RUNNERS = frozenset((
    "make", "go", "cargo", "npm", "pnpm", "yarn", "bun", "npx", "mise", "just", "task", "uv", "poetry", "python",
    "python3", "mvn", "gradle", "./gradlew", "bundle", "rake", "dotnet", "swift", "bazel", "ninja", "cmake", "deno",
))  # fmt: skip
_CHECKS = ("test", "check", "lint", "build", "vet", "compile", "clippy", "pytest", "mypy", "unittest", "tsc")


def is_failed_check(command: str, result: str) -> bool:
    """Return whether a failed command is a check of the work, and exists."""
    return is_check(command) and not any(mark in result[:_BEGINNING] for mark in _NOT_THERE)


def is_check(command: str) -> bool:
    """Return whether a command checks work: runs tests, a linter or a compiler."""
    return any(checks(words) for words in simple_commands(command))


def failed_edit(command: str, result: str, files: Sequence[str], said: str) -> Fact:
    """Return the failed attempt: edits of files (newest last), then a failed check. `said` is the agent's
    announcement.
    """
    named = tuple(dict.fromkeys(reversed(files)))[:_FILES]
    more = len(set(files)) - len(named)
    told = f': "{cut(one_line(said), _SAID_CHARACTERS)}"' if said.strip() else ""
    body = {
        "attempt": f"edited {', '.join(named)}{f' and {more} more files' if more else ''}{told}",
        "outcome": f"{telling(excerpt(result))} ({cut(one_line(command), _COMMAND_CHARACTERS)} failed)",
        "command": command,
    }
    return Fact(FAILED_EDIT, ATTEMPT, OBSERVED, "active", body, excerpt(result), named)


def refused_call(call: Call, result: str, reason: str, denied: str = "") -> Fact:
    """Return the fact that the user refused a call, with the reason if they gave one, or that the client denied it."""
    outcome = f"the user refused: {reason}" if reason else "the user refused, without a word"
    body = {
        "attempt": subject(call),
        "outcome": cut(denied, _SAID_CHARACTERS) if denied else outcome,
        "command": call.command,
    }
    origin = OBSERVED if denied else USER_SAID
    return Fact(REFUSED_CALL, ATTEMPT, origin, "active", body, reason or result.strip(), call.files)


def checks(words: list[str]) -> bool:
    """Return whether a simple command checks work."""
    name = words[0].rsplit("/", 1)[-1]
    if name in _CHECKERS:
        return True
    is_runner = name in _RUNNERS or words[0] in _RUNNERS
    return is_runner and any(check in word for word in words[1:4] if " " not in word for check in _CHECKS)
