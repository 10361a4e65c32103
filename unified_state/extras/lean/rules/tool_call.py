"""Parse a tool call: the commands that it runs, and whether its output is the content of files.

An agent edits the text that it reads from a file, so file contents are never cut. If in doubt a command shows a file.
One `cat notes.txt` among other commands is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from unified_state.lib.record import Record
from unified_state.lib.shell.shell_commands import chained, commands_run, only_prints
from unified_state.lib.shell.shell_line import SimpleCommand, UnreadableError, program_name

_SHOWING = frozenset(("Glob", "Grep", "LS", "Task", "Agent", "WebFetch", "WebSearch"))  # print text from elsewhere
_LONGEST = 20_000  # characters of a parsed command: 0.2 s at worst
_THROUGH = (  # runners of a project's programs
    ("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"), ("bundle", "exec"), ("npx",), ("bunx",),
    ("pnpm", "exec"), ("yarn", "exec"),
)  # fmt: skip
_JOB_LOGS = frozenset(("gh run", "gh pr checks", "glab ci"))


class Call(Record):
    """A tool call: its tool, its input, and the words of its commands by pipeline.

    Commands that other commands run (`timeout`, `sudo`, `bash -c`) are included. `only_prints` marks a call that prints
    text from elsewhere, so errors in its output are not its own. `is_read` is False if the command is too long or too
    deeply nested. Such a call may run anything.
    """

    tool: str
    given: dict[str, Any]
    pipelines: tuple[tuple[tuple[str, ...], ...], ...]
    only_prints: bool
    is_read: bool = True

    @property
    def commands(self) -> list[tuple[str, ...]]:
        """The words of each command."""
        return [words for pipeline in self.pipelines for words in pipeline]

    def runs(self, programs: frozenset[str]) -> bool:
        """Return whether it runs one of these programs, given by up to three words: `pytest`, `go test`."""
        return any(programs & {words[0], " ".join(words[:2]), " ".join(words[:3])} for words in self.commands)


def call_of(tool: str, given: dict[str, Any]) -> Call:
    """Return the call as the rules use it.

    Errors in the output of a command that shows a remote job's log count as its own.
    """
    command = given.get("command")
    if not isinstance(command, str):
        return Call(tool, given, (), tool in _SHOWING)
    commands = _commands(command)
    if commands is None:
        return Call(tool, given, (), only_prints=False, is_read=False)
    found = tuple(tuple(map(_named, pipeline)) for pipeline in chained(commands))
    call = Call(tool, given, found, only_prints(command))
    return call.replace(only_prints=False) if call.runs(_JOB_LOGS) else call


def _commands(line: str) -> list[SimpleCommand] | None:
    """Return the commands of a line, or None if they cannot be parsed. An interpreter includes the script on its
    stdin.
    """
    if len(line) > _LONGEST:
        return None
    try:
        commands = list(commands_run(line))
    except UnreadableError:
        return None
    for command in commands:
        if command.stdin and command.words and _named(command.words)[0] in INTERPRETERS:
            command.words = [*command.words, command.stdin]
    return commands


def _named(words: list[str]) -> tuple[str, ...]:
    """Return the words from the program that does the work."""
    for through in _THROUGH:
        if tuple(words[: len(through)]) == through and len(words) > len(through):
            return _named(words[len(through) :])
    return program_name(words[0]), *words[1:]


_TOOLS = frozenset(("Read", "Edit", "MultiEdit", "Write", "NotebookRead", "NotebookEdit"))
_READING = frozenset(("cat", "content", "contents", "fetch", "get", "open", "read", "show", "view"))
_FILES = frozenset(("file", "files", "document", "notebook", "resource"))
_PRINTERS = frozenset((
    "bat", "batcat", "bunzip2", "bzcat", "bzip2", "cat", "expand", "fold", "gcat", "ghead", "glow", "gsed", "gtail",
    "gunzip", "gzcat", "gzip", "head", "hexdump", "highlight", "iconv", "less", "mdcat", "more", "nl", "od", "pr",
    "pygmentize", "sed", "tac", "tail", "unxz", "unzip", "unzstd", "xxd", "xz", "xzcat", "zcat", "zless", "zstd",
    "zstdcat",
))  # fmt: skip
_PRINTERS_OF_WINDOWS = frozenset(("get-content", "gc"))  # in any case
_ALSO_OF_BASH = "type"  # prints files on Windows
_RUNNERS = frozenset((  # their arguments contain the program that they run
    "adb", "cmd", "conda", "docker", "docker-compose", "fd", "find", "kubectl", "limactl", "lxc", "multipass",
    "nerdctl", "nix-shell", "nsenter", "oc", "podman", "powershell", "pwsh", "script", "ssh", "vagrant", "wsl",
    "xargs",
))  # fmt: skip
_RUN = _PRINTERS | _PRINTERS_OF_WINDOWS | {_ALSO_OF_BASH}
_NO_WORDS = str.maketrans("\"'`(){};|", " " * 9)


def shows_files(call: Call) -> bool:
    """Return whether a call shows the content of files. A command that cannot be parsed counts as one."""
    return not call.is_read or call.tool in _TOOLS or _is_reader(call.tool) or any(map(_ends_in_file, call.pipelines))


def _is_reader(tool: str) -> bool:
    """Return whether a server's tool reads files, by its name: `mcp__files__read_text_file`,
    `mcp__x__getFileContents`.
    """
    if not tool.startswith("mcp__"):
        return False
    name = tool.rsplit("__", 1)[-1]
    spaced = "".join(f" {sign}" if sign.isupper() else sign if sign.isalnum() else " " for sign in name)
    words = spaced.lower().split()
    return not _READING.isdisjoint(words) and not _FILES.isdisjoint(words)


def _ends_in_file(pipeline: Sequence[Sequence[str]]) -> bool:
    """Return whether a pipeline prints a file's content: a command prints it, and no later command transforms it."""
    printed = [at for at, words in enumerate(pipeline) if _prints_files(words)]
    return bool(printed) and all(map(gives_lines, pipeline[printed[-1] + 1 :]))


def _prints_files(words: Sequence[str]) -> bool:
    program = words[0]
    if program in _RUNNERS:
        return not _RUN.isdisjoint(" ".join(words).lower().translate(_NO_WORDS).split())
    prints = _PRINTING.get(program)
    if prints is not None:
        return prints(words)
    if (program in _PRINTERS or program in FILTERS) and len(operands(words)) > SCRIPTS.get(program, 0):
        return gives_lines(words)
    if program in INTERPRETERS:
        return prints_a_file(words)
    return program.lower() in _PRINTERS_OF_WINDOWS and len(words) > 1


def _prints_blob(words: Sequence[str]) -> bool:
    """Return whether a git command may print a file: `git show HEAD:a.py`, `git cat-file -p …`."""
    if "cat-file" in words and ("-p" in words or "blob" in words):
        return True
    return ("show" in words or "cat-file" in words) and any(map(_is_blob, words[1:]))


def _unpacks_to_stdout(words: Sequence[str]) -> bool:
    return "--to-stdout" in words or any("O" in word for word in words[1:2])


def _types_files(words: Sequence[str]) -> bool:
    return len(words) > 1 and not words[1].startswith("-")


def _is_blob(word: str) -> bool:
    """Return whether a word names a file's content in git.

    `HEAD:src/a.py` and `:a.py` (in the index) do. `--format=%h:%s` and `:!docs` do not.
    """
    _, colon, path = word.partition(":")
    return bool(colon and path) and not word.startswith("-") and not path.startswith(("/", "!", "^", "("))


_PRINTING: dict[str, Callable[[Sequence[str]], bool]] = {
    "git": _prints_blob,
    "tar": _unpacks_to_stdout,
    _ALSO_OF_BASH: _types_files,
}

_AWKS = frozenset(("awk", "gawk", "mawk"))
_SEARCHES = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack"))
_QUERIES = frozenset(("jq", "yq"))
INTERPRETERS = frozenset(("bun", "deno", "node", "perl", "php", "python", "python3", "ruby"))
_MAKERS = INTERPRETERS | {  # print their own output
    "base64", "comm", "diff", "file", "md5sum", "sha256sum", "sort", "strings", "uniq", "wc", "xargs",
}  # fmt: skip
# Arguments before the files: a script, a pattern, a set of characters.
SCRIPTS = dict.fromkeys((*_AWKS, *_SEARCHES, *_QUERIES, "gsed", "perl", "sed", "tr"), 1)
_VALUED = {  # options of a program that take a value
    "head": ("-n", "-c", "--lines", "--bytes"),
    "tail": ("-n", "-c", "--lines", "--bytes"),
    "sed": ("-e", "-f", "-l"),
    "awk": ("-F", "-f", "-v"),
    "bat": ("-r", "-l", "--line-range"),
    "cut": ("-b", "-c", "-d", "-f"),
    "fold": ("-w",),
    "xxd": ("-l", "-s", "-c"),
    "od": ("-N", "-j", "-t", "-A"),
}
_EVERY_LINE = frozenset(("", ".", ".*", "^", "$"))  # patterns
_MANY_AROUND = 10  # lines around a match that amount to the content of a file
_AROUND = frozenset(("--context", "--after-context", "--before-context"))
_READS = ("open(", "read_text(", "readFileSync(", "readTextFile", "file_get_contents(", "File.read", "IO.read")
_TAKES_APART = ("json", "JSON", "yaml", "csv", "toml", "re.", ".match(", "Counter(", "len(", "subprocess", "ast.")
_JSON_TOOL = ("-m", "json.tool")
_PRINTS_LINE = ("print if", "print unless", "print;", "print}", "print }")


def gives_lines(words: Sequence[str]) -> bool:
    """Return whether a command passes on the lines that it reads, or some of them."""
    program = words[0]
    gives = _FILTERING.get(program)
    if gives is not None:
        return gives(words)
    return program not in _MAKERS or tuple(words[1:3]) == _JSON_TOOL


def operands(words: Sequence[str]) -> list[str]:
    """Return the operands of a command, up to its redirection."""
    found: list[str] = []
    valued = _VALUED.get(words[0], ())
    is_value = False
    for word in words[1:]:
        if word.startswith(">"):
            break
        if word.startswith("<") and len(word) > 1:
            found.append(word)
        elif is_value:
            is_value = False
            if words[0] == "sed":
                found.append(word)  # the script, as without its option
        elif word.startswith("-") and len(word) > 1:
            is_value = word in valued
        elif not word.startswith(("1>", "2>", "&>", "+")) and (words[0] in _AWKS or not word.isdigit()):
            found.append(word)
    return found


def prints_a_file(words: Sequence[str]) -> bool:
    """Return whether an interpreter's script prints from a file that it reads, without a visible transformation."""
    if tuple(words[1:3]) == _JSON_TOOL:
        return len(operands(words)) > 1
    script = max(words[1:], key=len, default="")
    return any(map(script.__contains__, _READS)) and not any(map(script.__contains__, _TAKES_APART))


def _prints_lines_of_awk(words: Sequence[str]) -> bool:
    return any(map(_prints_lines, operands(words)[:1]))


def _prints_lines(script: str) -> bool:
    """Return whether an awk script passes lines on unchanged: `/^def f/,/^$/`, `NR > 9 {print}`, `/^def/{f=1} f`."""
    actions = script.replace(" ", "").replace("\n", "")
    return not actions.endswith("}") or any(words in actions for words in ("NR", "print}", "print;", "$0"))


def _prints_lines_of_perl(words: Sequence[str]) -> bool:
    """Return whether the command is `perl -pe …` or `perl -ne 'print if …'`."""
    loops = "".join(word for word in words[1:] if word[:1] == "-" and word[1:].isalpha() and word.endswith("e"))
    return "p" in loops or ("n" in loops and any(printing in word for word in words[2:] for printing in _PRINTS_LINE))


def _gives_most_lines(words: Sequence[str]) -> bool:
    """Return whether a search prints most lines: all but comments, every line, or many lines around each match."""
    takes_all = not _EVERY_LINE.isdisjoint(operands(words)[:1])
    return takes_all or any(map(_is_inverted, words[1:])) or max(_lines_around(words), default=0) >= _MANY_AROUND


def _is_inverted(word: str) -> bool:
    return word in {"--invert-match", "--passthru"} or (
        word.startswith("-") and not word.startswith("--") and "v" in word
    )


def _lines_around(words: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of lines around a match: `-A30`, `-nA 30`, `--context=30`."""
    for word, following in zip(words[1:], [*words[2:], ""], strict=True):
        name, _, value = word.partition("=")
        if not word.startswith("--"):
            name = word.rstrip("0123456789")
            value = word[len(name) :]
        told = value or following
        if (name in _AROUND or (name.startswith("-") and name[-1] in "ABC-")) and told.isdigit():
            yield int(told[:4])


def _queries_all(words: Sequence[str]) -> bool:
    return operands(words)[:1] == ["."]


def _cuts_lines_off(words: Sequence[str]) -> bool:
    return any(word.startswith(("-c", "-b", "--characters", "--bytes")) for word in words)


def _deletes_signs(words: Sequence[str]) -> bool:
    return any(word == "--delete" or (word.startswith("-") and "d" in word) for word in words[1:2])


_FILTERING: dict[str, Callable[[Sequence[str]], bool]] = {
    **dict.fromkeys(_AWKS, _prints_lines_of_awk),
    **dict.fromkeys(_SEARCHES, _gives_most_lines),
    **dict.fromkeys(_QUERIES, _queries_all),
    "cut": _cuts_lines_off,
    "perl": _prints_lines_of_perl,
    "tr": _deletes_signs,
}
FILTERS = frozenset(_FILTERING)  # some of them print a file's content
