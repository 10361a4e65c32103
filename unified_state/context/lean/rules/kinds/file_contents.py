"""Which calls show the content of files: an agent edits what it reads there, so nothing of it is cut.

In doubt a command shows a file: one `cat notes.txt` among others is enough.
"""

from __future__ import annotations

from unified_state.context.lean.rules.line_filters import (
    FILTERS,
    INTERPRETERS,
    SCRIPTS,
    gives_lines,
    operands,
    prints_a_file,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unified_state.context.lean.rules.tool_call import Call

_TOOLS = frozenset(("Read", "Edit", "MultiEdit", "Write", "NotebookRead", "NotebookEdit"))
_READING = frozenset(("cat", "content", "contents", "fetch", "get", "open", "read", "show", "view"))
_FILES = frozenset(("file", "files", "document", "notebook", "resource"))
_PRINTERS = frozenset((
    "bat", "batcat", "bunzip2", "bzcat", "bzip2", "cat", "expand", "fold", "gcat", "ghead", "glow", "gsed", "gtail",
    "gunzip", "gzcat", "gzip", "head", "hexdump", "highlight", "iconv", "less", "mdcat", "more", "nl", "od", "pr",
    "pygmentize", "sed", "tac", "tail", "unxz", "unzip", "unzstd", "xxd", "xz", "xzcat", "zcat", "zless", "zstd",
    "zstdcat",
))  # fmt: skip
_PRINTERS_OF_WINDOWS = frozenset(("get-content", "gc"))  # in whatever case
_ALSO_OF_BASH = "type"  # which prints files on Windows
_RUNNERS = frozenset((  # what they run is among their words
    "adb", "cmd", "conda", "docker", "docker-compose", "fd", "find", "kubectl", "limactl", "lxc", "multipass",
    "nerdctl", "nix-shell", "nsenter", "oc", "podman", "powershell", "pwsh", "script", "ssh", "vagrant", "wsl",
    "xargs",
))  # fmt: skip
_RUN = _PRINTERS | _PRINTERS_OF_WINDOWS | {_ALSO_OF_BASH}
_NO_WORDS = str.maketrans("\"'`(){};|", " " * 9)


def shows_files(call: Call) -> bool:
    """Whether a call shows the content of files. What cannot be read for certain may do anything."""
    return not call.is_read or call.tool in _TOOLS or _is_reader(call.tool) or any(map(_ends_in_file, call.pipelines))


def _is_reader(tool: str) -> bool:
    """Whether the tool of a server reads files, by its name: `mcp__files__read_text_file`,
    `mcp__x__getFileContents`.
    """
    if not tool.startswith("mcp__"):
        return False
    name = tool.rsplit("__", 1)[-1]
    spaced = "".join(f" {sign}" if sign.isupper() else sign if sign.isalnum() else " " for sign in name)
    words = spaced.lower().split()
    return not _READING.isdisjoint(words) and not _FILES.isdisjoint(words)


def _ends_in_file(pipeline: Sequence[Sequence[str]]) -> bool:
    """Whether what a pipeline gives is a file's content: it was printed, and no command behind made something else of
    it.
    """
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
    """`git show HEAD:a.py`, `git cat-file -p …`, of which nobody knows what it is."""
    if "cat-file" in words and ("-p" in words or "blob" in words):
        return True
    return ("show" in words or "cat-file" in words) and any(map(_is_blob, words[1:]))


def _unpacks_to_stdout(words: Sequence[str]) -> bool:
    return "--to-stdout" in words or any("O" in word for word in words[1:2])


def _types_files(words: Sequence[str]) -> bool:
    return len(words) > 1 and not words[1].startswith("-")


def _is_blob(word: str) -> bool:
    """`HEAD:src/a.py` and `:a.py`, of the index, name a file's content; `--format=%h:%s` and `:!docs` do not."""
    _, colon, path = word.partition(":")
    return bool(colon and path) and not word.startswith("-") and not path.startswith(("/", "!", "^", "("))


_PRINTING: dict[str, Callable[[Sequence[str]], bool]] = {
    "git": _prints_blob,
    "tar": _unpacks_to_stdout,
    _ALSO_OF_BASH: _types_files,
}
