"""Find the files that a command changes.

They are found from redirections, from the operands of programs that change files, from options that name an output, and
from a patch in the line. Files that `make`, a script or an archive (`tar`) changes cannot be found in a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unified_state.constraints.rules.invocations import Invocation, read_invocation
from unified_state.lib.record import Record
from unified_state.lib.shell.given_files import found_files
from unified_state.lib.shell.shell_line import SimpleCommand, folder_below, program_name

_ALL = {
    *("black", "chgrp", "chmod", "chown", "dos2unix", "ed", "ex", "isort", "mkdir", "mv", "nvim", "rename", "rm"),
    *("rmdir", "setfacl", "shred", "sponge", "tee", "touch", "truncate", "unlink", "vi", "vim"),
}
_LAST = {"cp", "install", "ln", "rsync", "scp"}
_INTO = _LAST | {"curl", "mkdir", "patch", "touch", "wget"}  # they change nothing that a named folder already holds
_IN_PLACE = {
    "awk": "inplace", "clang-format": "-i", "eslint": "--fix", "gawk": "inplace", "gofmt": "-w", "perl": "-i",
    "prettier": "-w --write", "ruby": "-i", "ruff": "--fix", "sed": "-i", "yq": "-i",
}  # fmt: skip
_NO_BUNDLES = {"perl": "MmIF", "ruby": "rIF", "sed": ""}  # options whose value follows in the same word
_OUTPUTS = {
    **dict.fromkeys(("cp", "install", "ln", "mv"), ("-t=", "--target-directory=")),
    "curl": ("-o=", "--output="), "dd": ("of=",), "patch": ("-o=", "--output=", "-d=", "--directory="),
    "pg_dump": ("-f=", "--file="), "sort": ("-o=", "--output="),
    "wget": ("-O=", "--output-document=", "-P=", "--directory-prefix="),
}  # fmt: skip
_LEAST_OPERANDS = 2  # of a program that changes its last operand
_ONLY_SHOWS = {"--check", "--diff", "--dry-run", "--numstat", "--stat", "--summary"}
_PATCHED = ("+++ ", "*** Add File: ", "*** Delete File: ", "*** Update File: ")  # lines of a patch that name a file


class ChangedPath(Record):
    """A changed path as written, the folder it is relative to, and whether what it holds is changed too."""

    path: str
    folder: str
    is_whole: bool = False


def changed_files(command: SimpleCommand) -> Iterator[ChangedPath]:
    """Yield the files that a command changes."""
    for target in command.targets:
        yield ChangedPath(target, command.folder)
    if not command.words:
        return
    program = program_name(command.words[0])
    if program == "find":
        changed: Sequence[str] = found_files(command.words) if "-delete" in command.words else ()
    else:
        changed = _changed(read_invocation(command.words), command)
    for path in changed:
        yield ChangedPath(path, _folder(program, command), is_whole=program not in _INTO)


def named_files(command: SimpleCommand) -> Iterator[ChangedPath]:
    """Yield all words and redirections of a command, any of which may name a file."""
    for path in (*command.targets, *command.words[1:]):
        yield ChangedPath(path, command.folder)


def _changed(invocation: Invocation, command: SimpleCommand) -> Sequence[str]:
    program, operands, options = invocation.program, invocation.operands, invocation.options
    if options & _ONLY_SHOWS:
        return ()
    beginnings = _OUTPUTS.get(program, ())
    named = [word.partition("=")[2] for word in sorted({*operands, *options}) if word.startswith(beginnings)]
    if program == "git":
        return _by_git(invocation, command.stdin or "")
    if program in ("apply_patch", "patch"):
        return [*operands[:1], *named, *_patched(command.stdin or "")]
    if program in _ALL or (program in _IN_PLACE and _is_in_place(program, command.words)):
        return [*operands, *named]
    if program in _LAST and not named:
        return operands[-1:] if len(operands) >= _LEAST_OPERANDS else ()
    return named


def _is_in_place(program: str, words: list[str]) -> bool:
    """Return whether the options make a program change its operands. Short options may be bundled: `perl -pi -e …`."""
    if any(word.startswith((*_IN_PLACE[program].split(), "--in-place")) for word in words):
        return True
    values = _NO_BUNDLES.get(program)
    bundles = [
        word[1:].partition(".")[0] for word in words if word[:1] == "-" and word[1:2] not in ("-", *(values or ""))
    ]
    return values is not None and any(bundle.isalnum() and "i" in bundle for bundle in bundles)


def _by_git(invocation: Invocation, stdin: str) -> Sequence[str]:
    verb, paths, options = "".join(invocation.operands[:1]), invocation.operands[1:], invocation.options
    if verb in {"checkout", "mv", "restore", "rm"}:
        return paths
    if verb == "reset":
        return (".",) if "--hard" in options else ()
    if verb == "clean":
        return (paths or (".",)) if "--force" in options else ()
    if verb == "stash":
        return (".",) if paths[:1] in {("pop",), ("apply",)} else paths[1:] if paths[:1] == ("push",) else ()
    if verb == "apply":
        below = [option.partition("=")[2] for option in options if option.startswith("--directory=")]
        return [*below, *_patched(stdin)]
    return ()


def _patched(patch: str) -> list[str]:
    """Return the files that a patch names, with and without their first folder (`b/src/a.py`)."""
    found = []
    for line in patch.splitlines():
        mark = next((mark for mark in _PATCHED if line.startswith(mark)), None)
        if mark is not None:
            path = line.removeprefix(mark).partition("\t")[0].strip()
            found += [path, path.partition("/")[2]] if path.startswith(("a/", "b/")) else [path]
    return found


def _folder(program: str, command: SimpleCommand) -> str:
    """Return the folder of the command's relative paths."""
    words = command.words
    if program == "git" and "-C" in words[:-1]:
        return folder_below(command.folder, words[words.index("-C") + 1])
    return command.folder
