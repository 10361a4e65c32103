"""The files that a command is given by another one: `find … -exec`, `find … | xargs`, `echo FILE | xargs`.

Only names that stand in the line are found. Where `find` has a test of names, its files are folder and test together:
`find src -name '*.py'` gives `src/*.py`.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.shell.printed import printed
from unified_state.lib.shell.shell_line import SimpleCommand, program_name

_PASSING = {"cat", "egrep", "grep", "head", "rg", "shuf", "sort", "tac", "tail", "tee", "tr", "uniq"}
_LISTING = {"-l", "-L", "--files-with-matches", "--files-without-match"}
_NAME_TESTS = {"-name", "-iname"}
_PATH_TESTS = {"-path", "-ipath", "-wholename", "-iwholename"}
_WILDCARDS = ("*", "?", "[")
_LONGEST_PIPE = 10


class GivenFiles(Record):
    """Files as a command is given them. `is_whole` where everything below them is meant too."""

    paths: tuple[str, ...]
    is_whole: bool = False


def given_by_pipe(command: SimpleCommand) -> GivenFiles | None:
    """Return the files that a command reads on its stdin, a name a line; None where they are not in the line."""
    if command.stdin is not None:
        return GivenFiles(tuple(command.stdin.split()))
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
    name, text = program_name(feeder.words[0]), printed(feeder.words, feeder.stdin)
    if name == "find":
        return found_files(feeder.words)
    if text is not None:
        return GivenFiles(tuple(text.split()))
    listed = _listed(name, feeder.words)
    return None if listed is None else GivenFiles(tuple(listed), is_whole=name != "ls")


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
    return GivenFiles(tuple(tested or roots), is_whole=not tested)


def _listed(name: str, words: list[str]) -> list[str] | None:
    """Return the files whose names `ls`, `grep -l` or `git ls-files` prints, or None."""
    plain = [word for word in words[1:] if not word.startswith("-")]
    if name == "ls":
        return [word for word in plain if any(sign in word for sign in _WILDCARDS)]
    if name == "git" and plain[:1] == ["ls-files"]:
        return plain[1:] or ["."]
    lists = any(word in _LISTING or (word[:1] == "-" and word[1:2] != "-" and "l" in word) for word in words[1:])
    return plain[1:] or ["."] if name in {"egrep", "grep", "rg"} and lists else None
