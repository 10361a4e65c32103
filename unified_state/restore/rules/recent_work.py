"""What a session did last, read from its newest steps: texts, commands with how they ended, edits and commits.

Ages count the tool calls that followed.
"""

from __future__ import annotations

from itertools import pairwise

from unified_state.agents.transcripts.rules.about_work import is_about_work
from unified_state.agents.transcripts.rules.call_effects import read_call, still_runs_as
from unified_state.agents.transcripts.rules.failure_lines import failing_lines
from unified_state.capture.rules.commits import commits, may_make
from unified_state.capture.rules.failed_calls import checks, did_not_run, refusal
from unified_state.lib.identifiers import identifiers, is_file, relative_path
from unified_state.lib.shell.shell_commands import command_key, pipelines, shows
from unified_state.lib.text import cut, one_line
from unified_state.model.known import Recent, Run
from unified_state.model.step import TEXT, TOOL_CALL, TOOL_RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.agents.transcripts.rules.call_effects import Call
    from unified_state.model.step import Step

_END = 6_000  # characters at the end of an output that are looked at
_OUTCOME = 160
_SAYS_NOTHING = ("<", "exit status ", "Exit code ")  # the client's wrappers, and codes
_NO_CALL = "<tool_use_error>"
_COMMITS, _CHANGING = "git commit", ("_string", "content", "edits", "new_source", "*** Begin Patch")
_MOST_RUNS = 60  # distinct commands
_LOOKED_AT = 20_000  # characters of a result in which a removed name may come back
_DEFINES, _GO_METHOD = ("func", "class", "const", "def", "fn", "function", "interface", "struct", "type"), "func ("
_NO_WORK = {"cd", "echo", "export", "sleep", "true"}


def recent_work(steps: Sequence[Step], root: str) -> Recent:
    """Return what a session did in its steps, which are in order."""
    results = {step.tool_use_id: step for step in steps if step.kind == TOOL_RESULT and step.tool_use_id}
    reader = _Reader(root)
    for step in reversed(steps):
        if step.kind == TEXT:
            reader.texts.append((step.text, reader.age))
        elif step.kind == TOOL_CALL:
            result = results.get(step.tool_use_id or "")
            if result is not None:
                reader.read(step, result)
            reader.age += 1
    return reader.found()


def uncommitted(steps: Sequence[Step], root: str) -> Recent:
    """Return the texts of some steps, which are in order, and the files that were edited after the last commit in them.

    It takes a fraction of the time of `recent_work`: a command is not parsed, only searched for `git commit`.
    """
    failed = {step.tool_use_id for step in steps if step.kind == TOOL_RESULT and step.is_error}
    edits: dict[str, int] = {}
    for age, step in enumerate(reversed([step for step in steps if step.kind == TOOL_CALL])):
        if step.tool_use_id in failed:
            continue
        if _COMMITS in step.text:
            break
        if any(field in step.text for field in _CHANGING):
            for change in read_call(step).changes:
                edits.setdefault(relative_path(change.path, root), age)
    texts = tuple((step.text, 0) for step in reversed(steps) if step.kind == TEXT)
    return Recent(texts=texts, edits=tuple(edits.items()))


class _Reader:
    """Reads calls with their results, the newest first."""

    def __init__(self, root: str) -> None:
        self.age = 0
        self.texts: list[tuple[str, int]] = []
        self._root = root
        self._runs: dict[str, Run] = {}
        self._edits: dict[str, int] = {}
        self._commits: list[tuple[str, int]] = []
        self._pushed: int | None = None
        self._gone: dict[str, int] = {}
        self._seen: list[str] = []  # what was written or read later
        self._paths: list[str] = []  # of files that were written or read later

    def found(self) -> Recent:
        return Recent(
            texts=tuple(self.texts),
            runs=tuple(self._runs.values()),
            edits=tuple(self._edits.items()),
            commits=tuple(self._commits),
            pushed=self._pushed,
            gone=tuple(self._gone.items()),
        )

    def read(self, step: Step, result: Step) -> None:
        call = read_call(step)
        if not is_about_work(result, call):
            return
        if call.command:
            self._ran(call.command, result)
        elif not result.is_error:
            for name in _undefined(call):
                if not any(name in text for text in self._seen):
                    self._gone.setdefault(name, self.age)
            self._seen += (step.text, result.text[:_LOOKED_AT])
            self._paths += call.files
            for change in call.changes:
                self._edits.setdefault(relative_path(change.path, self._root), self.age)

    def _ran(self, command: str, result: Step) -> None:
        key = command_key(command)
        if key in self._runs:
            self._runs[key] = self._runs[key].replace(times=self._runs[key].times + 1)
            return
        if len(self._runs) == _MOST_RUNS or not _did_run(result.text):
            return
        chains = [chain for chain in pipelines(command) if chain[0][0] not in _NO_WORK]
        run = self._runs[key] = _run(command, chains, result, self.age)
        if run.failed:
            return
        if may_make(command):
            self._commits += ((fact.body["content"], self.age) for fact in commits(command, result.text))
        for words in (chain[0] for chain in chains):
            if self._pushed is None and words[0] == "git" and "push" in words:
                self._pushed = self.age
            for path in _removed(words):
                if not any(other.endswith(path) for other in self._paths):
                    self._gone.setdefault(relative_path(path, self._root), self.age)


def _did_run(output: str) -> bool:
    """Return whether a call ran to its end, by its result: nobody refused or cancelled it."""
    return not (
        still_runs_as(output) or output.startswith(_NO_CALL) or did_not_run(output) or refusal(output) is not None
    )


def _run(command: str, chains: list[list[list[str]]], result: Step, age: int) -> Run:
    """Return a run. `chains` are the pipelines of the command."""
    end = result.text[-_END:].replace("\r", "\n").strip()
    failing = failing_lines(end, command, is_error=result.is_error)
    last = next((line for line in map(one_line, reversed(end.split("\n"))) if _tells(line)), "")
    every = [words for chain in chains for words in chain]
    return Run(
        command=command.strip(),
        age=age,
        failed=result.is_error or bool(failing),
        last=cut(last, _OUTCOME),
        failing=tuple(failing),
        parts=frozenset(" ".join(chain[0]) for chain in chains),
        checks=any(map(checks, every)),
        shows=all(map(shows, every)),
        lines=end.count("\n") + bool(end),
    )


def _tells(line: str) -> bool:
    return bool(line) and not line.startswith(_SAYS_NOTHING)


def _undefined(call: Call) -> set[str]:
    """Return the names that an edit takes away: defined in the old text, and not in the new."""
    old, new = call.fields.get("old_string"), call.fields.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return set()
    return {name for name in _defined(old) if name not in new}


def _defined(text: str) -> Iterator[str]:
    """Yield the identifiers that the lines of a text define, in the words of the usual languages."""
    for line in text.splitlines():
        if not any(word in line for word in _DEFINES):
            continue
        after = line.partition(")")[2] if line.lstrip().startswith(_GO_METHOD) else ""
        bare = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in after or line)
        words = [_DEFINES[0], *bare.split()] if after else bare.split()
        for before, name in pairwise(words):
            if before in _DEFINES and identifiers(name):
                yield name


def _removed(words: list[str]) -> Iterator[str]:
    """Yield the files that a simple command removes or moves away."""
    words = words[1:] if words[0] == "git" else words
    if words[:1] in (["rm"], ["mv"]) and "--cached" not in words:
        named = [word for word in words[1:] if not word.startswith("-")]
        yield from filter(is_file, named if words[0] == "rm" else named[:1])
