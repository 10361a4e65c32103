"""The tool call whose output may be shortened, as far as rules ask for it."""

from __future__ import annotations

from unified_state.records.record import Record
from unified_state.rules.programs import only_prints
from unified_state.rules.shell import pipelines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Call(Record):
    """A tool call: its tool, its input, and the words of the commands that it runs, pipeline by pipeline."""

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
    """The call as rules see it. What is not a command of the shell shows what lies somewhere: errors in its output are
    not its own.
    """
    command = given.get("command")
    if not isinstance(command, str):
        return Call(tool, given, (), True)
    found = tuple(tuple(map(_named, pipeline)) for pipeline in pipelines(command))
    return Call(tool, given, found, only_prints(command))


def _named(words: list[str]) -> tuple[str, ...]:
    return words[0].rsplit("/", 1)[-1], *words[1:]
