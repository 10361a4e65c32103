"""The tool call whose output may be shortened, as far as rules ask for it."""

from __future__ import annotations

from unified_state.records.record import Record
from unified_state.rules.enforcing.unwrapping import commands_run, program_name
from unified_state.rules.programs import only_prints
from unified_state.rules.shell.commands import chained
from unified_state.rules.shell.words import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.rules.shell.reading import SimpleCommand


_SHOWING = frozenset(("Glob", "Grep", "LS", "Task", "Agent", "WebFetch", "WebSearch"))  # what lies somewhere
_LONGEST = 20_000  # characters of a command that are looked at
_JOB_LOGS = frozenset(("gh run", "gh pr checks", "glab ci"))


class Call(Record):
    """A tool call: its tool, its input, and the words of the commands that it runs, pipeline by pipeline; those that
    others run (`timeout`, `sudo`, `bash -c`) beside them. What `only_prints` shows what lies somewhere: errors in its
    output are not its own.
    """

    tool: str
    given: dict[str, Any]
    pipelines: tuple[tuple[tuple[str, ...], ...], ...]
    only_prints: bool

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
    found = tuple(tuple(map(_named, pipeline)) for pipeline in chained(_commands(command)))
    call = Call(tool, given, found, only_prints(command))
    return call.replace(only_prints=False) if call.runs(_JOB_LOGS) else call


def _commands(line: str) -> list[SimpleCommand]:
    try:
        return list(commands_run(line[:_LONGEST]))
    except UnreadableError:
        return []


def _named(words: list[str]) -> tuple[str, ...]:
    return program_name(words[0]), *words[1:]
