"""The files that a simple command changes, as far as its words tell: redirections, and the operands of programs that
are known to change files. What a program changes by itself (`make`, a script) nobody can tell beforehand.
"""

from __future__ import annotations

from unified_state.constraints.rules.invocations import read_invocation
from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.constraints.rules.invocations import Invocation
    from unified_state.lib.shell import SimpleCommand

_ALL = {"chgrp", "chmod", "chown", "mkdir", "mv", "rm", "rmdir", "shred", "tee", "touch", "truncate", "unlink"}
_LAST = {"cp", "install", "ln", "rsync", "scp"}
_WHOLE_FOLDERS = {"chgrp", "chmod", "chown", "git", "mv", "rm"}
_IN_PLACE = {"perl": "-i", "ruby": "-i", "sed": "-i"}
_GIT = {"checkout", "clean", "mv", "restore", "rm"}
_OUTPUTS = {"curl": ("-o=", "--output="), "dd": ("of=",), "wget": ("-O=", "--output-document=")}
_LEAST_OPERANDS = 2  # of a program that changes the last one


class Touched(Record):
    """A path that is changed, as it is written, and whether all that lies in it is changed too."""

    path: str
    folder: str
    is_whole: bool = False


def changed_files(command: SimpleCommand) -> Iterator[Touched]:
    """What a command changes."""
    for target in command.targets:
        yield Touched(target, command.folder)
    if not command.words:
        return
    invocation = read_invocation(command.words)
    program, folder = invocation.program, _folder(command, invocation)
    for path in _operands(invocation, command.words):
        yield Touched(path, folder, is_whole=program in _WHOLE_FOLDERS or program == "find")


def named_files(command: SimpleCommand) -> Iterator[Touched]:
    """All that a command may speak of: its words and redirections."""
    for path in (*command.targets, *command.words[1:]):
        yield Touched(path, _folder(command, None))


def _operands(invocation: Invocation, words: list[str]) -> tuple[str, ...]:
    program, operands = invocation.program, invocation.operands
    if program in _ALL:
        return operands
    if program in _LAST:
        return _targets(words) or (operands[-1:] if len(operands) >= _LEAST_OPERANDS else ())
    if program == "git" and operands[:1] and operands[0] in _GIT:
        return operands[1:]
    if program in _IN_PLACE:
        changes = any(word.startswith((_IN_PLACE[program], "--in-place")) for word in words)
        return operands if changes or _bundles_i(words) else ()
    if program == "find" and "-delete" in invocation.options:
        return operands
    return _named_outputs(invocation)


def _named_outputs(invocation: Invocation) -> tuple[str, ...]:
    """The files that options name: `curl -o FILE`, `dd of=FILE`."""
    beginnings = _OUTPUTS.get(invocation.program)
    named = (*invocation.operands, *invocation.options) if beginnings else ()
    return tuple(word.partition("=")[2] for word in named if word.startswith(beginnings or ()))


def _targets(words: list[str]) -> tuple[str, ...]:
    """The folder that `-t` or `--target-directory` names."""
    for at, word in enumerate(words):
        if word in ("-t", "--target-directory"):
            return tuple(words[at + 1 : at + 2])
        if word.startswith("--target-directory="):
            return (word.partition("=")[2],)
    return ()


def _bundles_i(words: list[str]) -> bool:
    """Whether an `i` is among bundled short options: `perl -pi -e …`."""
    return any(word[:1] == "-" and word[1:2] != "-" and word[1:].isalpha() and "i" in word for word in words)


def _folder(command: SimpleCommand, invocation: Invocation | None) -> str:
    """Where the command's relative paths begin."""
    words = command.words
    if invocation is not None and invocation.program == "git" and "-C" in words[:-1]:
        to = words[words.index("-C") + 1]
        return to if to.startswith(("/", "~")) or not command.folder else f"{command.folder}/{to}"
    return command.folder
