"""The files that a command is given by another one: `find … -exec`, `find … | xargs`, `echo FILE | xargs`.

Only names that stand in the line are found. Where `find` has a test of names, its files are folder and test together:
`find src -name '*.py'` gives `src/*.py`.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.shell.shell_line import SimpleCommand, program_name, unescaped

_PASSING = {"cat", "egrep", "grep", "head", "rg", "shuf", "sort", "tac", "tail", "tee", "tr", "uniq"}
_LISTING = {"-l", "-L", "--files-with-matches", "--files-without-match"}
_NAME_TESTS = {"-name", "-iname"}
_PATH_TESTS = {"-path", "-ipath", "-wholename", "-iwholename"}
_WILDCARDS = ("*", "?", "[")
_MOST = 100  # files of one command
_LONGEST_PIPE = 10


class GivenFiles(Record):
    """Files as a command is given them. `is_whole` where everything below them is meant too."""

    paths: tuple[str, ...]
    is_whole: bool = False


def printed(command: SimpleCommand) -> str | None:
    """Return what `echo`, `printf` or `cat` prints, None for other commands and for what is not in the line."""
    name, words = program_name("".join(command.words[:1])), command.words[1:]
    if name == "cat":
        return command.stdin
    if name == "echo":
        return _echoed(words)
    return _formatted(words) if name == "printf" else None


def given_by_pipe(command: SimpleCommand) -> GivenFiles | None:
    """Return the files that a command reads on its stdin, a name a line; None where they are not in the line."""
    if command.stdin is not None:
        return GivenFiles(tuple(command.stdin.split()[:_MOST]))
    feeder = command.feeder
    for _ in range(_LONGEST_PIPE):
        if feeder is None or not feeder.words:
            break
        given = _given_by(feeder)
        if given is not None or program_name(feeder.words[0]) not in _PASSING:
            return given
        feeder = feeder.feeder
    return None


def _given_by(feeder: SimpleCommand) -> GivenFiles | None:
    name, text = program_name(feeder.words[0]), printed(feeder)
    if name == "find":
        return found_files(feeder.words)
    if text is not None:
        return GivenFiles(tuple(text.split()[:_MOST]))
    listed = _listed(name, feeder.words)
    return None if listed is None else GivenFiles(tuple(listed[:_MOST]), is_whole=name != "ls")


def found_files(words: list[str]) -> GivenFiles:
    """Return the files that `find` finds."""
    at = 1
    while at < len(words) and words[at] in {"-H", "-L", "-P"}:
        at += 1
    roots: list[str] = []
    while at < len(words) and words[at][:1] not in {"-", "(", "!"}:
        roots.append(words[at])
        at += 1
    roots = roots or ["."]
    names: list[str] = []
    paths: list[str] = []
    for place in range(at, len(words) - 1):
        test, value = words[place : place + 2]
        is_negated = words[place - 1] in {"!", "-not"}
        if test == "-prune" and value in {"-o", "-or"}:
            names, paths = [], []  # these are left out
        elif test in _NAME_TESTS and not is_negated:
            names.append(value)
        elif test in _PATH_TESTS and not is_negated:
            paths.append(value.removeprefix("*/"))
    tested = [*paths, *(f"{root.rstrip('/')}/{name}" for root in roots for name in names)]
    return GivenFiles(tuple(tested[:_MOST] or roots[:_MOST]), is_whole=not tested)


def _listed(name: str, words: list[str]) -> list[str] | None:
    """Return the files whose names `ls`, `grep -l` or `git ls-files` prints, or None."""
    plain = [word for word in words[1:] if not word.startswith("-")]
    if name == "ls":
        return [word for word in plain if any(sign in word for sign in _WILDCARDS)]
    if name == "git" and plain[:1] == ["ls-files"]:
        return plain[1:] or ["."]
    lists = any(word in _LISTING or (word[:1] == "-" and word[1:2] != "-" and "l" in word) for word in words[1:])
    return plain[1:] or ["."] if name in {"egrep", "grep", "rg"} and lists else None


def _echoed(words: list[str]) -> str:
    escapes = False
    while words and words[0] in {"-n", "-e", "-E", "-en", "-ne"}:
        escapes |= "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    return _with_escapes(text) if escapes else text


def _formatted(words: list[str]) -> str:
    """Return what `printf` prints, with a line for each argument that its format has no `%s` for."""
    if words[:1] == ["-v"]:
        return ""
    words = words[words[:1] == ["--"] :]
    text = _with_escapes("".join(words[:1]))
    for value in words[1:]:
        text = text.replace("%s", value, 1) if "%s" in text else f"{text}\n{value}"
    return text


def _with_escapes(text: str) -> str:
    found, at = "", 0
    while at < len(text):
        sign, length = unescaped(text, at) if text[at] == "\\" else (text[at], 1)
        found, at = found + sign, at + length
    return found
