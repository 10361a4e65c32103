"""The tool call whose output may be shortened, as far as rules ask for it."""

from __future__ import annotations

from unified_state.context.lean.rules.line_filters import INTERPRETERS
from unified_state.lib.record import Record
from unified_state.lib.shell import UnreadableError
from unified_state.lib.shell_commands import chained, commands_run, only_prints, program_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.lib.shell import SimpleCommand


_SHOWING = frozenset(("Glob", "Grep", "LS", "Task", "Agent", "WebFetch", "WebSearch"))  # what lies somewhere
_LONGEST = 20_000  # characters of a command that is read: 0.2 s at worst
_THROUGH = (  # what runs a program of the project as it is
    ("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"), ("bundle", "exec"), ("npx",), ("bunx",),
    ("pnpm", "exec"), ("yarn", "exec"),
)  # fmt: skip
_JOB_LOGS = frozenset(("gh run", "gh pr checks", "glab ci"))


class Call(Record):
    """A tool call: its tool, its input, and the words of the commands that it runs, pipeline by pipeline; those that
    others run (`timeout`, `sudo`, `bash -c`) beside them. What `only_prints` shows what lies somewhere: errors in its
    output are not its own. One whose command is too long or too deep is not `is_read`: it may run anything.
    """

    tool: str
    given: dict[str, Any]
    pipelines: tuple[tuple[tuple[str, ...], ...], ...]
    only_prints: bool
    is_read: bool = True

    @property
    def commands(self) -> list[tuple[str, ...]]:
        """The words of each command."""
        return [words for pipeline in self.pipelines for words in pipeline]

    def runs(self, programs: frozenset[str]) -> bool:
        """Whether it runs one of these programs, named alone or with the word behind it: `pytest`, `go test`."""
        return any(programs & {words[0], " ".join(words[:2]), " ".join(words[:3])} for words in self.commands)


def call_of(tool: str, given: dict[str, Any]) -> Call:
    """The call as rules see it. A command that shows a job's log elsewhere prints errors that matter as if they were
    its own.
    """
    command = given.get("command")
    if not isinstance(command, str):
        return Call(tool, given, (), tool in _SHOWING)
    commands = _commands(command)
    if commands is None:
        return Call(tool, given, (), only_prints=False, is_read=False)
    found = tuple(tuple(map(_named, pipeline)) for pipeline in chained(commands))
    call = Call(tool, given, found, only_prints(command))
    return call.replace(only_prints=False) if call.runs(_JOB_LOGS) else call


def _commands(line: str) -> list[SimpleCommand] | None:
    """The commands that a line runs, each interpreter with the script on its stdin; None where they cannot be told."""
    if len(line) > _LONGEST:
        return None
    try:
        commands = list(commands_run(line))
    except UnreadableError:
        return None
    for command in commands:
        if command.stdin and command.words and _named(command.words)[0] in INTERPRETERS:
            command.words = [*command.words, command.stdin]
    return commands


def _named(words: list[str]) -> tuple[str, ...]:
    """The words from the program on that does the work."""
    for through in _THROUGH:
        if tuple(words[: len(through)]) == through and len(words) > len(through):
            return _named(words[len(through) :])
    return program_name(words[0]), *words[1:]
