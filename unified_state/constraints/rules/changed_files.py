"""Find the files that a command changes.

They are found from redirections, from the operands of programs that change files, from options that name an output, and
from a patch in the line. Files that `make` or a script changes cannot be found in a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from unified_state.constraints.rules.invocations import Invocation, read_invocation
from unified_state.lib.record import Record
from unified_state.lib.shell.given_files import found_files
from unified_state.lib.shell.shell_line import SimpleCommand

_ALL = {
    "black",
    "chgrp",
    "chmod",
    "chown",
    "dos2unix",
    "ed",
    "ex",
    "isort",
    "mkdir",
    "mv",
    "nvim",
    "rename",
    "rm",
    "rmdir",
    "setfacl",
    "shred",
    "sponge",
}
_ALL |= {"tee", "touch", "truncate", "unlink", "vi", "vim"}
_LAST = {"cp", "install", "ln", "rsync", "scp"}
_WHOLE_FOLDERS = {"black", "chgrp", "chmod", "chown", "eslint", "git", "gofmt", "isort", "mv", "prettier", "rm", "ruff"}
_IN_PLACE = {
    "clang-format": "-i", "eslint": "--fix", "gofmt": "-w", "perl": "-i", "prettier": "-w --write", "ruby": "-i",
    "ruff": "--fix", "sed": "-i", "yq": "-i",
}  # fmt: skip
_NO_BUNDLES = {"perl": "MmIF", "ruby": "rIF", "sed": ""}  # options whose value follows in the same word
_PACKERS = {"bzip2", "gunzip", "gzip", "xz", "zstd"}
_OUTPUTS = {
    "curl": ("-o=", "--output="), "dd": ("of=",), "pg_dump": ("-f=", "--file="), "sort": ("-o=", "--output="),
    "wget": ("-O=", "--output-document="),
}  # fmt: skip
_LEAST_OPERANDS = 2  # of a program that changes its last operand
_ONLY_SHOWS = {"--check", "--diff", "--dry-run", "--numstat", "--stat", "--summary"}
_PATCHED = ("+++ ", "*** Add File: ", "*** Delete File: ", "*** Update File: ")  # lines of a patch that name a file


class ChangedPath(Record):
    """A changed path as written, the folder it is relative to, and whether everything in it is changed too."""

    path: str
    folder: str
    is_whole: bool = False


def changed_files(command: SimpleCommand) -> Iterator[ChangedPath]:
    """Yield the files that a command changes."""
    for target in command.targets:
        yield ChangedPath(target, command.folder)
    if not command.words:
        return
    words = command.all_words
    invocation = read_invocation(words)
    program, folder = invocation.program, _folder(command, invocation)
    if program == "find" and "-delete" in words:
        found = found_files(words)
        yield from (ChangedPath(path, folder, is_whole=found.is_whole) for path in found.paths)
        return
    for path in _changed(invocation, words, command.stdin or ""):
        yield ChangedPath(path, folder, is_whole=command.is_whole or program in _WHOLE_FOLDERS)


def named_files(command: SimpleCommand) -> Iterator[ChangedPath]:
    """Yield all words and redirections of a command, any of which may name a file."""
    for path in (*command.targets, *command.all_words[1:]):
        yield ChangedPath(path, _folder(command, None))


def _changed(invocation: Invocation, words: list[str], stdin: str) -> Sequence[str]:
    program, operands = invocation.program, invocation.operands
    named = _values(invocation.options, "-t", "--target-directory")
    if program in _ALL:
        return () if invocation.options & _ONLY_SHOWS else [*operands, *named]
    if program in _LAST:
        return named or (operands[-1:] if len(operands) >= _LEAST_OPERANDS else ())
    if program in _IN_PLACE:
        changes = any(word.startswith((*_IN_PLACE[program].split(), "--in-place")) for word in words)
        changes |= program in _NO_BUNDLES and _bundles(words, "i", _NO_BUNDLES[program])
        return operands if changes else ()
    if program in _PACKERS:
        only_prints = _bundles(words, "clt") or not {"--stdout", "--list", "--test"}.isdisjoint(words)
        return () if only_prints else operands
    reader = _READERS.get(program)
    return reader(invocation, words, stdin) if reader is not None else _named_outputs(invocation)


def _by_git(invocation: Invocation, _words: list[str], stdin: str) -> Sequence[str]:
    verb, paths, options = "".join(invocation.operands[:1]), invocation.operands[1:], invocation.options
    if verb in {"checkout", "mv", "restore", "rm"}:
        return paths
    if verb == "reset":
        return (".",) if "--hard" in options else ()
    if verb == "clean":
        return (paths or (".",)) if "--force" in options and "--dry-run" not in options else ()
    if verb == "stash":
        return (".",) if paths[:1] in {("pop",), ("apply",)} else paths[1:] if paths[:1] == ("push",) else ()
    if verb == "apply":
        return () if options & _ONLY_SHOWS else [*_values(options, "--directory"), *_patched(stdin)]
    return ()


def _by_patch(invocation: Invocation, _words: list[str], stdin: str) -> Sequence[str]:
    if invocation.options & _ONLY_SHOWS:
        return ()
    folder = next(iter(_values(invocation.options, "-d", "--directory")), "")
    named = _values(invocation.options, "-o", "--output") or list(invocation.operands[:1]) or _patched(stdin)
    return _below(folder, named) or [folder or "."]


def _by_tar(_invocation: Invocation, words: list[str], _stdin: str) -> Sequence[str]:
    if words[1:2] and not words[1].startswith("-"):
        words = [words[0], f"-{words[1]}", *words[2:]]  # `tar xzf`
    invocation = read_invocation(words)
    options = invocation.options
    if "--extract" in options or "--get" in options:
        folder = next(iter(_values(options, "-C", "--directory")), "")
        return () if "--to-stdout" in options else _below(folder, invocation.operands) or [folder or "."]
    return () if "--list" in options else [path for path in _values(options, "-f", "--file") if path != "-"]


def _by_unzip(invocation: Invocation, _words: list[str], _stdin: str) -> Sequence[str]:
    if invocation.options & {"-l", "-p", "-t", "-v", "-Z"}:
        return ()
    folder = next(iter(_values(invocation.options, "-d")), "")
    return _below(folder, invocation.operands[1:]) or [folder or "."]


def _by_download(invocation: Invocation, _words: list[str], _stdin: str) -> Sequence[str]:
    """Return the files of `curl` and `wget`: as named, or by the last part of an address."""
    options = invocation.options
    folder = next(iter(_values(options, "-P", "--directory-prefix", "--output-dir")), "")
    named = _named_outputs(invocation)
    if invocation.program == "wget":
        return named or [*_below(folder, _last_parts(invocation)), *([folder] if folder else ())]
    is_named_so = not options.isdisjoint({"--remote-name", "--remote-name-all"})
    return _below(folder, [*named, *(_last_parts(invocation) if is_named_so else ())])


def _by_docker(invocation: Invocation, _words: list[str], _stdin: str) -> Sequence[str]:
    return invocation.operands[2:3] if invocation.operands[:1] == ("cp",) else ()


def _by_awk(invocation: Invocation, _words: list[str], _stdin: str) -> Sequence[str]:
    return invocation.operands[1:] if "-i=inplace" in invocation.options else ()


_READERS: dict[str, Callable[[Invocation, list[str], str], Sequence[str]]] = {
    "awk": _by_awk, "gawk": _by_awk, "apply_patch": lambda _invocation, _words, stdin: _patched(stdin),
    "curl": _by_download, "docker": _by_docker, "git": _by_git, "patch": _by_patch, "podman": _by_docker,
    "tar": _by_tar, "unzip": _by_unzip, "wget": _by_download,
}  # fmt: skip


def _values(options: frozenset[str], *names: str) -> list[str]:
    """Return the values of options, the same ones in the same order each time."""
    beginnings = tuple(f"{name}=" for name in names)
    return [option.partition("=")[2] for option in sorted(options) if option.startswith(beginnings)]


def _below(folder: str, paths: Sequence[str]) -> list[str]:
    return [f"{folder}/{path}" if folder and not path.startswith("/") else path for path in paths]


def _last_parts(invocation: Invocation) -> list[str]:
    return [word.partition("?")[0].rsplit("/", 1)[-1] or "index.html" for word in invocation.operands]


def _patched(patch: str) -> list[str]:
    """Return the files that a patch names, with and without their first folder (`b/src/a.py`)."""
    found = []
    for line in patch.splitlines():
        mark = next((mark for mark in _PATCHED if line.startswith(mark)), None)
        if mark is not None:
            path = line.removeprefix(mark).partition("\t")[0].strip()
            found += [path, path.partition("/")[2]] if path.startswith(("a/", "b/")) else [path]
    return found


def _named_outputs(invocation: Invocation) -> Sequence[str]:
    """Return the files that options name: `curl -o FILE`, `dd of=FILE`."""
    beginnings = _OUTPUTS.get(invocation.program)
    named = (*invocation.operands, *invocation.options) if beginnings else ()
    return tuple(word.partition("=")[2] for word in named if word.startswith(beginnings or ()))


def _bundles(words: list[str], letters: str, values: str = "") -> bool:
    """Return whether bundled short options contain one of the letters: `perl -pi -e …`. Those in `values` begin a
    value.
    """
    bundles = (word[1:].partition(".")[0] for word in words if word[:1] == "-" and word[1:2] not in ("-", *values))
    return any(bundle.isalnum() and not set(letters).isdisjoint(bundle) for bundle in bundles)


def _folder(command: SimpleCommand, invocation: Invocation | None) -> str:
    """Return the folder of the command's relative paths."""
    words = command.words
    if invocation is not None and invocation.program == "git" and "-C" in words[:-1]:
        to = words[words.index("-C") + 1]
        return to if to.startswith(("/", "~")) or not command.folder else f"{command.folder}/{to}"
    return command.folder
