"""The tool call whose output may be shortened, as far as rules ask for it."""

from __future__ import annotations

from unified_state.records.record import Record
from unified_state.rules.programs import only_prints
from unified_state.rules.shell import simple_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Call(Record):
    """A tool call: its tool, its input, and the words of the simple commands that it runs."""

    tool: str
    given: dict[str, Any]
    commands: tuple[tuple[str, ...], ...]
    only_prints: bool

    def runs(self, programs: frozenset[str]) -> bool:
        """Whether it runs one of these programs, named alone or with the word behind it: `pytest`, `go test`."""
        return any(programs & {words[0], " ".join(words[:2]), " ".join(words[:3])} for words in self.commands)


def call_of(tool: str, given: dict[str, Any]) -> Call:
    """The call as rules see it. What is not a command of the shell shows what lies somewhere: errors in its output are
    not its own.
    """
    command = given.get("command")
    if not isinstance(command, str):
        return Call(tool, given, (), True)
    words = tuple((parts[0].rsplit("/", 1)[-1], *parts[1:]) for parts in simple_commands(command))
    return Call(tool, given, words, only_prints(command))
