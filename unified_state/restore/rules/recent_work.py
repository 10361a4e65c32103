"""What a session did last, read from its newest steps: texts, commands with how they ended, edits and commits.

Ages count the tool calls that followed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from unified_state.capture.rules.commits import commits, may_make
from unified_state.capture.rules.failed_calls import checks, denial, did_not_run, refusal
from unified_state.hosts.transcripts.rules.call_effects import (
    continued_by,
    ended_output,
    found_nothing,
    is_about_work,
    read_call,
    still_runs_as,
)
from unified_state.hosts.transcripts.rules.failure_lines import failing_lines
from unified_state.lib.identifiers import relative_path
from unified_state.lib.shell.shell_commands import command_key, pipelines, shows
from unified_state.lib.text import cut, one_line
from unified_state.model.known import RecentWork, Run, Statement
from unified_state.model.step import TEXT, TOOL_CALL, TOOL_RESULT, Step

_END = 6_000  # characters at the end of an output that are looked at
_OUTCOME = 160
# Wrappers, codes, ends of a structure, and lines that only announce.
_SAYS_NOTHING = ("<", "exit status ", "Exit code ", "]", "}", "Print help", "Shell cwd was reset", "=== RUN")
_FAILED = {"FAIL", "FAILED"}  # how the last line of a failed check begins
_NO_CALL = "<tool_use_error>"
_FOLDER = re.compile(r"(?:\bcd|\bgit -C) +[\"']?(/[^\s;&\"']+)")
_MOST_RUNS = 80  # distinct commands
_AGENTS = ("Task", "Agent")
_LAUNCHED, _ABOUT_AGENT = "Async agent launched", "\nagentId: "  # what the client adds to a subagent's report
_NO_WORK = {"cd", "echo", "export", "sleep", "true"}


def recent_work(steps: Sequence[tuple[int, Step]], root: str) -> RecentWork:
    """Return what a session did in its steps, which are in order, each with its turn."""
    results = [(step.tool_use_id or "", step) for _, step in steps if step.kind == TOOL_RESULT and step.tool_use_id]
    first, last = dict(reversed(results)), dict(results)  # a call that went on in the background has two
    reader = _Reader(root)
    for turn, step in reversed(steps):
        if step.kind == TEXT:
            reader.texts.append(Statement(turn=turn, at=step.at, text=step.text, age=reader.age))
        elif step.kind == TOOL_CALL:
            reader.read(turn, step, first.get(step.tool_use_id or ""), last.get(step.tool_use_id or ""))
            reader.age += 1
    return reader.found()


class _Reader:
    """Reads calls with their results, the newest first."""

    def __init__(self, root: str) -> None:
        self.age = 0
        self.texts: list[Statement] = []
        self._root = root
        self._runs: dict[str, Run] = {}
        self._edits: dict[str, int] = {}
        self._commits: list[tuple[str, int]] = []
        self._pushed: int | None = None
        self._has_results = False
        self._without_result: list[str] = []
        self._ends: dict[str, Step] = {}  # the last results of commands that went on, by their ids

    def found(self) -> RecentWork:
        return RecentWork(
            texts=tuple(self.texts),
            runs=tuple(self._runs.values()),
            edits=tuple(self._edits.items()),
            commits=tuple(self._commits),
            pushed=self._pushed,
            without_result=tuple(self._without_result),
        )

    def read(self, turn: int, step: Step, result: Step | None, end: Step | None) -> None:
        """Read a call with its result, and its last one, which ends what went on in the background.

        A command without a result may still run, if no later call has one.
        """
        call = read_call(step)
        if result is None or end is None:
            if call.command and not self._has_results:
                self._without_result.append(call.command)
            return
        self._has_results = True
        if not is_about_work(result, call):
            return
        waits_for = continued_by(call)
        if waits_for:
            self._ends.setdefault(waits_for, result)
        elif call.command:
            self._ran(call.command, self._ends.get(still_runs_as(result.text), end))
        elif call.tool in _AGENTS and not end.is_error and not end.text.startswith(_LAUNCHED):
            report = end.text.partition(_ABOUT_AGENT)[0]
            self.texts.append(Statement(turn=turn, at=end.at, text=report, age=self.age, is_report=True))
        elif not result.is_error:
            for change in call.changes:
                self._edits.setdefault(relative_path(change.path, self._root), self.age)

    def _is_elsewhere(self, command: str) -> bool:
        """Return whether a command goes to a folder that is neither in the session's nor above it."""
        root, folders = f"{self._root}/", [f"{folder}/" for folder in _FOLDER.findall(command)]
        return any(not (folder.startswith(root) or root.startswith(folder)) for folder in folders)

    def _ran(self, command: str, result: Step) -> None:
        key = command_key(command)
        if key in self._runs or len(self._runs) == _MOST_RUNS or not _did_run(result.text):
            return
        chains = _chains(command)
        if found_nothing(command, result.text):
            result = result.replace(is_error=False, text="")
        run = self._runs[key] = _run(command, chains, result, self.age)
        if run.failed:
            return
        if may_make(command) and not self._is_elsewhere(command):
            self._commits += ((fact.body["content"], self.age) for fact in commits(command, result.text))
        if self._pushed is None and any(chain[0][0] == "git" and "push" in chain[0] for chain in chains):
            self._pushed = self.age


def _chains(command: str) -> list[list[list[str]]]:
    return [chain for chain in pipelines(command) if chain[0][0] not in _NO_WORK]


def _parts(chains: list[list[list[str]]]) -> frozenset[str]:
    return frozenset(" ".join(chain[0]) for chain in chains)


def _did_run(output: str) -> bool:
    """Return whether a call ran, by its result: it was neither refused nor cancelled."""
    return not (output.startswith(_NO_CALL) or did_not_run(output) or refusal(output) is not None or denial(output))


def _run(command: str, chains: list[list[list[str]]], result: Step, age: int) -> Run:
    """Return a run. `chains` are the pipelines of the command."""
    goes_on = bool(still_runs_as(result.text))
    output, failed = ("", False) if goes_on else ended_output(result.text)
    end = output[-_END:].replace("\r", "\n").strip()
    failing = failing_lines(end, command, is_error=result.is_error or failed)
    last = next((line for line in map(one_line, reversed(end.split("\n"))) if _tells(line)), "")
    every = [words for chain in chains for words in chain]
    return Run(
        command=command.strip(),
        age=age,
        failed=result.is_error or failed or bool(failing) or last.split(" ")[0] in _FAILED,
        goes_on=goes_on,
        last=cut(last, _OUTCOME),
        failing=tuple(failing),
        parts=_parts(chains),
        checks=any(map(checks, every)),
        shows=all(map(shows, every)),
        lines=end.count("\n") + bool(end),
    )


def _tells(line: str) -> bool:
    return bool(line) and not line.startswith(_SAYS_NOTHING)
