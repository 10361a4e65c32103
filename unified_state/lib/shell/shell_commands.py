"""The commands in a shell line, the programs that they name, and the commands that they run: after assignments and
keywords, through `sudo`, `env`, `timeout`, `xargs`, `bash -c`, `eval`, `find -exec` and similar programs.
"""

from __future__ import annotations

from collections.abc import Iterator

from unified_state.lib.shell.given_files import found_files, given_by_pipe
from unified_state.lib.shell.shell_line import (
    DEEPEST,
    STDIN,
    SimpleCommand,
    UnreadableError,
    printed,
    program_name,
    read_commands,
)

_LONGEST = 20_000  # characters of a command that are parsed
_KEY_CHARACTERS = 500
_NO_MATTER = (" 2>&1",)
_BEFORE = frozenset(
    ("sudo", "env", "time", "command", "then", "do", "else", "!", "{")
)  # words that may precede a command


def simple_commands(line: str) -> Iterator[list[str]]:
    """Yield the words of each simple command, from its name on, including those of its substitutions."""
    for pipeline in pipelines(line):
        yield from pipeline


def pipelines(line: str) -> Iterator[list[list[str]]]:
    """Yield the simple commands of each pipeline, in which each reads the output of the one before.

    A file on stdin counts as an argument.
    """
    return chained(_commands(line))


def chained(commands: list[SimpleCommand]) -> Iterator[list[list[str]]]:
    """Yield the pipelines of commands that are already parsed."""
    chains: dict[int, list[list[str]]] = {}  # by the command that currently ends a chain
    found = []
    for command in commands:
        chain = chains.pop(id(command.feeder), None)
        if chain is None:
            chain = []
            found.append(chain)
        chains[id(command)] = chain
        words = command.words
        begin = next((at for at, word in enumerate(words) if word not in _BEFORE and "=" not in word), len(words))
        if begin < len(words):
            chain.append(words[begin:] + command.sources)
    yield from filter(None, found)


def _commands(line: str) -> list[SimpleCommand]:
    try:
        return read_commands(line[:_LONGEST])
    except UnreadableError:
        return []


def command_key(command: str) -> str:
    """Return the form in which commands are compared: without extra white space and redirected errors."""
    key = " ".join(command.split())
    for ending in _NO_MATTER:
        key = key.removesuffix(ending)
    return key[:_KEY_CHARACTERS]


_OPENINGS = {"if", "while"}  # the command follows these words
_NO_PROGRAMS = {"cd", "done", "echo", "export", "fi", "for", "printf", "set"}
PRINTING, SEARCHING = {"cat", "head", "nl", "sed", "tail"}, {"grep", "rg"}  # programs that show the texts of files
_SHOWING = {"ack", "awk", "curl", "diff", "find", "gh", "git", "jq", "less", "ls", "strings", "tree", "wc"}
_SHOWING |= PRINTING | SEARCHING


def only_prints(command: str) -> bool:
    """Return whether a command only shows content, so that errors in its output are not its own."""
    for part in simple_commands(command):
        program = next((word for word in part if "=" not in word and word not in _OPENINGS), "echo")
        if program not in _NO_PROGRAMS and not shows([program]):
            return False
    return True


def shows(words: list[str]) -> bool:
    """Return whether a simple command only shows content."""
    return words[0].rsplit("/", 1)[-1] in _SHOWING


_KEYWORDS = {"!", "{", "coproc", "do", "elif", "else", "if", "then", "until", "while"}
# Programs that run another one, and their options that take a value.
_WRAPPERS = {
    "bundle exec": "", "builtin": "", "command": "", "conda run": "-n -p", "corepack": "", "direnv exec": "",
    "doas": "-u -C", "env": "-u -C --unset --chdir", "exec": "-a", "flock": "-w -E", "lerna exec": "", "mise exec": "",
    "nice": "-n --adjustment", "nohup": "", "npm exec": "-p --package -w", "npx": "-p --package -w",
    "parallel": "-a -j --arg-file --jobs", "pdm run": "", "pipenv run": "", "pnpm dlx": "", "pnpm exec": "",
    "poetry run": "", "setsid": "", "stdbuf": "-i -o -e", "strace": "-a -b -e -E -I -o -O -p -P -s -S -u -X",
    "sudo": "-u -g -h -p -C -D -R -r -t -T -U --user --group --host --prompt --chdir --role --type",
    "systemd-run": "-p -t -u --unit --property --setenv --uid", "time": "-f -o --format --output",
    "timeout": "-k -s --kill-after --signal", "uv run": "-p --extra --group --project --python --with", "watch": "-n",
    "xargs": "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace --max-lines",
    "yarn dlx": "", "yarn exec": "",
}  # fmt: skip
_OPERANDS_FIRST = {"direnv exec": 1, "flock": 1, "timeout": 1}  # words before the program
_COMMAND_OPTION = {"flock", "runuser", "script", "su"}  # these take a script after `-c`
_SHELLS = {"ash", "bash", "dash", "ksh", "sh", "zsh"}
_SHELL_VALUES = {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}
_STDIN = {"-", STDIN, "/dev/fd/0", "/proc/self/fd/0"}
_PARAMETERS = ("@", "*", "0", "1")  # of a script that is called with files
_MARK = "{}"
_MOST_GIVEN = 5_000  # words with files in their place
_GIT_RUNS = (("rebase", "-x"), ("rebase", "--exec"), ("submodule", "foreach"), ("bisect", "run"))
_EXECUTES = {"-exec", "-execdir", "-ok", "-okdir"}


def commands_run(
    text: str, folder: str = "", depth: int = 0, variables: dict[str, list[str]] | None = None
) -> Iterator[SimpleCommand]:
    """Yield every command that a text makes the shell run. Raises UnreadableError."""
    for command in read_commands(text, folder, depth, variables):
        yield from _through(command, depth)


def _through(command: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    """Yield the command itself, and the commands that it runs."""
    if depth > DEEPEST:
        raise UnreadableError
    program = _from_program(command.words)
    before = command.words[: len(command.words) - len(program)]
    command.words, command.assigned = program, [word for word in before if _is_assignment(word)]
    yield command
    if not command.words:
        return
    name = program_name(command.words[0])
    if (both := " ".join([name, *command.words[1:2]])) in _WRAPPERS:
        name = both
    if name == "find":
        yield from _executed_by_find(command, depth + 1)
    elif name == "git":
        yield from _run_by_git(command, depth + 1)
    elif name in _WRAPPERS and not _script_in(name, command.words):
        yield from _behind_wrapper(name, command, depth + 1)
    else:
        script, files = _script_of(name, command)
        if script:
            parameters = dict.fromkeys(_PARAMETERS, files) if files else None
            yield from commands_run(script, command.folder, depth + 1, parameters)


def _script_of(name: str, command: SimpleCommand) -> tuple[str, list[str]]:
    """Return the script in the line that a command runs, or "", and the words that it is called with."""
    words = command.words
    begin = _script_in(name, words)
    if begin:
        return words[begin], words[begin + 1 :]
    if name == "eval":
        return " ".join(words[1:]), []
    if name == "trap":  # the last words are signals
        return "".join(words[1:2]), []
    reads = name in ("at", "batch") or (name in (".", "source") and words[1:2] and words[1] in _STDIN)
    if reads or (name in _SHELLS and _is_without_file(words)):
        script = command.stdin
        if script is None and command.feeder is not None:
            script = printed(command.feeder)
        return script or "", []
    return "", []


def _script_in(name: str, words: list[str]) -> int:
    """Return the place of the script behind `-c`, or behind options that end in it (`-qc`); 0 without one."""
    if name not in _SHELLS | _COMMAND_OPTION:
        return 0
    return next((at for at in range(2, len(words)) if _takes_script(words[at - 1])), 0)


def _takes_script(option: str) -> bool:
    return option.startswith("-") and not option.startswith("--") and "c" in option


def _is_without_file(words: list[str]) -> bool:
    """Return whether a shell reads its script from stdin."""
    at = 1
    while at < len(words) and words[at][:1] in ("-", "+") and len(words[at]) > 1:
        at += 2 if words[at] in _SHELL_VALUES else 1
    return at >= len(words) or words[at] in _STDIN or "-s" in words[1:at]


def _from_program(words: list[str]) -> list[str]:
    """Return the words from the program on."""
    begin = 0
    while begin < len(words) and (words[begin] in _KEYWORDS or _is_assignment(words[begin])):
        begin += 1
    return _from_program(words[begin + 2 :]) if words[begin : begin + 1] == ["function"] else words[begin:]


def _is_assignment(word: str) -> bool:
    name, sign, _ = word.partition("=")
    return bool(sign) and name.removesuffix("+").replace("_", "a").isalnum() and not name[0].isdigit()


def _behind_wrapper(name: str, command: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    valued, words, at = _WRAPPERS[name].split(), command.words, 1 + name.count(" ")
    folder, mark = command.folder, ""
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        option, value = words[at], words[at + 1 : at + 2]
        if option == "--":
            at += 1
            break
        if name == "command" and option in ("-v", "-V"):
            return
        if option in ("-C", "-D", "--chdir") and value and name != "doas":
            folder = value[0]
        if name == "xargs" and option.startswith(("-I", "-i", "--replace")):
            mark = "".join(value) if option == "-I" else option.lstrip("-Ii").removeprefix("replace").lstrip("=")
            mark = mark or _MARK
        at += 2 if option in valued else 1
    inner = SimpleCommand(folder, words[at + _OPERANDS_FIRST.get(name, 0) :], command.feeder)
    inner.stdin = command.stdin
    if name == "xargs":
        inner.words = _with_files(inner.words, given_by_pipe(command), mark)
    if name == "watch":
        yield from commands_run(" ".join(inner.words), folder, depth)
    elif inner.words:
        yield from _through(inner, depth)


def _with_files(words: list[str], files: list[str], mark: str) -> list[str]:
    """Return the words of a command with the files that another one gives it: in place of the mark, or at the end."""
    if len(words) * len(files) > _MOST_GIVEN:
        raise UnreadableError
    if not (mark and files):
        return [*words, *files]
    filled = ([word.replace(mark, file) for file in files] if mark in word else [word] for word in words)
    return [word for several in filled for word in several]


def _executed_by_find(command: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    words, at = command.words, 0
    while at < len(words):
        end = at
        if words[at] in _EXECUTES:
            end = next((end for end in range(at, len(words)) if words[end] in (";", "+")), len(words))
            inner = _with_files(words[at + 1 : end], found_files(words[:at]), _MARK)
            yield from _through(SimpleCommand(command.folder, inner), depth)
        at = end + 1


def _run_by_git(command: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    """Yield the commands that git runs: `rebase -x …`, `submodule foreach …`, `bisect run …`."""
    words = command.words
    for verb, before in _GIT_RUNS:
        if verb in words and before in words:
            behind = [word for word in words[words.index(before) + 1 :] if word != "--recursive"]
            yield from commands_run(" ".join(behind[:1] if verb == "rebase" else behind), command.folder, depth)
