"""The files that a command is given by another one: `find … -exec`, `find … | xargs`, `echo FILE | xargs`.

Only names that stand in the line are found. Where `find` has a test of names, its files are folder and test together:
`find src -name '*.py'` gives `src/*.py`.
"""

from __future__ import annotations

from unified_state.lib.shell.shell_line import SimpleCommand, printed, program_name

_SEARCHING = {"egrep", "git", "grep", "rg"}  # their first operand is a pattern or a verb, and no file
_NAME_TESTS = {"-name", "-iname"}
_PATH_TESTS = {"-path", "-ipath", "-wholename", "-iwholename"}
_LONGEST_PIPE = 10


def given_by_pipe(command: SimpleCommand) -> list[str]:
    """Return the files whose names a command reads on its stdin: those that the first command of the pipe names."""
    if command.stdin is not None:
        return command.stdin.split()
    feeder = command.feeder
    for _ in range(_LONGEST_PIPE):
        if feeder is None or feeder.feeder is None:
            break
        feeder = feeder.feeder
    if feeder is None or not feeder.words:
        return []
    text = printed(feeder)
    if text is not None:
        return text.split()
    name = program_name(feeder.words[0])
    if name == "find":
        return found_files(feeder.words)
    plain = [word for word in feeder.words[1:] if not word.startswith("-")]
    return (plain[1:] or ["."]) if name in _SEARCHING else plain


def found_files(words: list[str]) -> list[str]:
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
    return [*paths, *(f"{root.rstrip('/')}/{name}" for root in roots for name in names)] or roots
