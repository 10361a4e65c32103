"""What a tool call does, whichever host made it: the command that it runs, the file that it names, the files that it
changes.

Everything that learns from calls asks here, so a tool of a new host is described once. The readers of transcripts give
tools that Claude Code also has its names and fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.hosts.transcripts.rules.patches import BEGIN, DELETED, Change, changes_in
from unified_state.lib.json_text import parse_object
from unified_state.lib.record import Record
from unified_state.lib.shell.shell_commands import PRINTING, SEARCHING, commands_run, only_prints, simple_commands
from unified_state.lib.shell.shell_line import SimpleCommand, UnreadableError, program_name
from unified_state.lib.text import strings_of
from unified_state.model.constraint import LIFTED_BY
from unified_state.model.step import PROMPT, TOOL_RESULT, Step

PATCH_TOOL = "apply_patch"
_PATCHERS = (PATCH_TOOL, "applypatch")
_WRITING = ("old_string", "new_string", "content", "edits", "new_source")  # fields of calls that change a file
_LONGEST_PATH = 1_000  # characters; a longer text is no path


class Call(Record):
    """A tool call.

    `command` is the shell command that it runs. `path` is the file that it names. `changes` are the files that it
    changes. Each is empty if it has none. A command that does nothing but apply a patch is a change, and no command.
    """

    tool: str
    fields: dict[str, Any]
    command: str = ""
    path: str = ""
    changes: tuple[Change, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it changes or names."""
        return tuple(change.path for change in self.changes) or ((self.path,) if self.path else ())


NO_CALL = Call("", {})
# Tools that wait for a running command, or type into it, with the field that names it: Codex's, and Claude Code's.
_WAITING = {"write_stdin": "session_id", "TaskOutput": "task_id", "BashOutput": "bash_id"}
_RUNS = ("Process running with session ID ", "Command running in background with ID: ")
_WAITED = ("<retrieval_status>", "<status>")  # how the result of TaskOutput begins, and that of BashOutput
_STILL_RUNNING, _COMPLETED = "<status>running</status>", "<status>completed</status>"
_TASK, _EXIT_CODE = "<task_id>", "<exit_code>"
_NOT_FOUND = "Exit code 1"  # the whole result of a search without a match
_HEAD = 200  # characters of a result in which its client says that the command still runs


def read_call(step: Step) -> Call:
    """Return the call of a step that is a tool call."""
    return call_of(step.tool or "", parse_object(step.text) or {})


def call_of(tool: str, fields: dict[str, Any]) -> Call:
    """Return a call with what it does."""
    command = fields.get("command")
    if isinstance(command, str):
        patches, others = _patches_of(command) if BEGIN in command else ([], True)
        changes = tuple(_in_folder(fields, folder, change) for folder, patch in patches for change in changes_in(patch))
        return Call(tool, fields, command=command if others or not changes else "", changes=changes)
    if tool in _PATCHERS:
        patch = fields.get("input")
        found = changes_in(patch) if isinstance(patch, str) else ()
        return Call(tool, fields, changes=tuple(_in_folder(fields, "", change) for change in found))
    path = fields.get("file_path") or fields.get("notebook_path")
    if not isinstance(path, str) or len(path) > _LONGEST_PATH:
        return Call(tool, fields)
    writes = any(name in fields for name in _WRITING)
    written = strings_of([value for name, value in fields.items() if not name.endswith("_path")]) if writes else ""
    return Call(tool, fields, path=path, changes=(Change(path, written),) if writes else ())


def continued_by(call: Call) -> str:
    """Return the id of the running command for which a call waits, or "" if it waits for none."""
    name = _WAITING.get(call.tool)
    return str(call.fields.get(name) or "") if name else ""


def still_runs_as(result: str) -> str:
    """Return the id of the command that still runs after a result, or "" if it has ended. Where the result does not
    name it, return that it runs.
    """
    head = result[:_HEAD]
    if head.startswith(_WAITED):
        return (head.partition(_TASK)[2].partition("<")[0].strip() or "running") if _STILL_RUNNING in head else ""
    for mark in _RUNS:
        if mark in head:
            return head.partition(mark)[2].partition("\n")[0].partition(". ")[0].strip()
    return ""


def ended_output(result: str) -> tuple[str, bool]:
    """Return the output of a command and whether it failed, from the result of a call that waited for its end."""
    if not result.startswith(_WAITED):
        return result, False
    failed = _COMPLETED not in result[:_HEAD] or result.partition(_EXIT_CODE)[2][:2] not in {"", "0<"}
    outputs = (result.partition(f"<{tag}>")[2].rpartition(f"</{tag}>")[0].strip() for tag in ("output", "stdout"))
    return next(filter(None, outputs), ""), failed


def found_nothing(command: str, result: str) -> bool:
    """Return whether a command that only looks for something has found nothing, which is no failure."""
    return result.strip() == _NOT_FOUND and bool(command) and only_prints(command)


def _patches_of(command: str) -> tuple[list[tuple[str, str]], bool]:
    """Return the patches that a shell command applies, each with its folder, and whether it runs anything else."""
    patches, others = [], False
    try:
        for found in commands_run(command):
            patch = next(_given_to_patcher(found), None)
            if patch is not None:
                patches.append((found.folder, patch))
            elif found.words and found.words[0] != "cd":
                others = True
    except UnreadableError:
        return [], True
    return patches, others


def _given_to_patcher(command: SimpleCommand) -> Iterator[str]:
    if command.words and program_name(command.words[0]) in _PATCHERS:
        given = [*command.words[1:2], command.stdin, command.feeder.stdin if command.feeder else None]
        yield from (text for text in given if text and BEGIN in text)


def taken_away(call: Call) -> Iterator[Change]:
    """Yield the files that `rm` and `mv`, also those of git, take away, and those that are there after a `mv`."""
    if "rm " not in call.command and "mv " not in call.command:
        return
    try:
        for command in commands_run(call.command):
            words = command.words[command.words[:1] == ["git"] :]
            name = program_name("".join(words[:1]))
            paths = [word.removeprefix("./").rstrip("/") for word in words[1:] if not word.startswith("-")]
            to = paths.pop() if name == "mv" and paths else ""
            if name in {"rm", "mv"} and "--cached" not in words:
                changes = [Change(path, gone=f"moved to {to}" if to else DELETED) for path in paths]
                changes += [Change(to)] if to else []
                yield from (_in_folder(call.fields, command.folder, change) for change in changes)
    except UnreadableError:
        return


def read_by_command(call: Call) -> tuple[set[str], str | None]:
    """Return the files that a command prints, as `sed -n 1,80p a.py` does, and what stands before the paths that it
    found if it searches. Return none if it runs anything else, too.
    """
    if not any(f"{name} " in call.command for name in PRINTING | SEARCHING):
        return set(), None
    try:
        ran = [command for command in commands_run(call.command) if command.words and command.words[0] != "cd"]
    except UnreadableError:
        return set(), None
    programs = [program_name(command.words[0]) for command in ran]
    if not (PRINTING | SEARCHING).issuperset(programs) or any("-i" in command.words for command in ran):
        return set(), None
    named = {_in_folder(call.fields, command.folder, Change(word)).path for command in ran for word in _read(command)}
    searched = (command.folder for command, name in zip(ran, programs, strict=True) if name in SEARCHING)
    return named, next((_in_folder(call.fields, folder, Change("")).path for folder in searched), None)


def _read(command: SimpleCommand) -> list[str]:
    """Return the files that a command is given. The first operand of sed is its script."""
    operands = [word for word in command.words[1:] if word[:1] != "-" and not word.lstrip("+").isdigit()]
    return [*operands[1 if program_name(command.words[0]) == "sed" else 0 :], *command.sources]


def _in_folder(fields: dict[str, Any], folder: str, change: Change) -> Change:
    """Return a change with its path from the folder in which the call ran."""
    workdir = fields.get("workdir")
    path = change.path
    for base in (folder, workdir):
        if isinstance(base, str) and base not in {"", "."} and not is_absolute(path):
            path = f"{base.rstrip('/')}/{path}"
    return change if path == change.path else change.replace(path=path)


def is_absolute(path: str) -> bool:
    """Return whether a path says the whole place: from the root, the home or a drive."""
    return path.startswith(("/", "~")) or path[1:2] == ":"


# Calls that tell nothing about the work: those of unified-state itself, those that it denied, and those that no
# tool took.
PROGRAM = "unified-state"
_SLASH_COMMANDS = ("<command-message>context-compact<", "<command-name>/context-compact<")
_MCP = "mcp__"
_DENIED = "Constraint C"
_NO_TOOL = ("<tool_use_error>Error: No such tool available", "<tool_use_error>InputValidationError")
_BEFORE_DENIAL = 200  # characters that the client may add
_LOOKED_AT = 2_000  # characters of a command


def is_own_call(call: Call) -> bool:
    """Return whether a call only uses unified-state: its tools, or its command with programs that print."""
    if call.tool.startswith(_MCP):
        return PROGRAM in call.tool
    if PROGRAM not in call.command:
        return False
    commands = [words for words in simple_commands(call.command[:_LOOKED_AT]) if words and words[0] != "cd"]
    own = [words for words in commands if program_name(words[0]) == PROGRAM]
    return bool(own) and all(words in own or only_prints(" ".join(words)) for words in commands)


def did_not_reach_a_tool(result: str) -> bool:
    """Return whether unified-state denied the call that has this result, or the client found no tool for it."""
    is_denied = PROGRAM in result and result[:_BEFORE_DENIAL].find(_DENIED) >= 0 and LIFTED_BY in result
    return is_denied or result.startswith(_NO_TOOL)


def is_about_work(step: Step, call: Call | None) -> bool:
    """Return whether a step with its tool call tells something about the work."""
    if step.kind == PROMPT:
        return not step.text.startswith(_SLASH_COMMANDS)
    if call is None:
        return True
    return not is_own_call(call) and not (step.kind == TOOL_RESULT and did_not_reach_a_tool(step.text))
