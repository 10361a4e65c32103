"""Which calls show the content of files: an agent edits what it reads there, so nothing of it is cut.

In doubt a command shows a file: one `cat notes.txt` among others is enough.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.rules.shortening.call import Call

_TOOLS = frozenset(("Read", "Edit", "MultiEdit", "Write", "NotebookRead", "NotebookEdit"))
_READING = frozenset(("cat", "content", "contents", "fetch", "get", "open", "read", "show", "view"))
_FILES = frozenset(("file", "files", "document", "notebook", "resource"))
_PRINTERS = frozenset((
    "bat", "batcat", "bzcat", "cat", "expand", "fold", "gzcat", "head", "hexdump", "iconv", "less", "more", "nl", "od",
    "pr", "sed", "tac", "tail", "xxd", "xzcat", "zcat", "zless", "zstdcat",
))  # fmt: skip
_PRINTERS_OF_WINDOWS = frozenset(("Get-Content", "gc", "type"))
_SCRIPTED = frozenset(("sed",))  # the first word is no file
_RUNNERS = frozenset(
    ("docker", "fd", "find", "kubectl", "podman", "ssh", "xargs")
)  # what they run is among their words
_AWKS = frozenset(("awk", "gawk", "mawk"))
_SEARCHES = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack"))
_MAKERS = _SEARCHES | {  # what they print is their own
    "awk", "base64", "comm", "cut", "diff", "file", "jq", "md5sum", "node", "perl", "python", "python3", "ruby",
    "sha256sum", "sort", "strings", "tr", "uniq", "wc", "xargs", "yq",
}  # fmt: skip
_VALUED = {  # the options of a program behind which a value stands
    "head": ("-n", "-c", "--lines", "--bytes"),
    "tail": ("-n", "-c", "--lines", "--bytes"),
    "sed": ("-e", "-f", "-l"),
    "awk": ("-F", "-f", "-v"),
    "bat": ("-r", "-l", "--line-range"),
    "fold": ("-w",),
    "xxd": ("-l", "-s", "-c"),
    "od": ("-N", "-j", "-t", "-A"),
}


def shows_files(call: Call) -> bool:
    """Whether a call shows the content of files."""
    return call.tool in _TOOLS or _is_reader(call.tool) or any(map(_ends_in_file, call.pipelines))


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
    return bool(printed) and all(map(_passes_on, pipeline[printed[-1] + 1 :]))


def _passes_on(words: Sequence[str]) -> bool:
    """Whether a command gives the lines on that it reads, if not all of them."""
    return words[0] not in _MAKERS or (words[0] in _SEARCHES and any(map(_is_inverted, words[1:])))


def _is_inverted(word: str) -> bool:
    return word == "--invert-match" or (word.startswith("-") and not word.startswith("--") and "v" in word)


def _prints_files(words: Sequence[str]) -> bool:
    program = words[0]
    if program in _RUNNERS:
        return not _PRINTERS.isdisjoint(" ".join(words).split())
    if program == "git":
        return ("show" in words or "cat-file" in words) and any(_is_blob(word) for word in words[1:])
    if program in _AWKS:
        operands = _operands(words)
        return len(operands) > 1 and _prints_lines(operands[0])
    if program in _SEARCHES:
        return any(map(_is_inverted, words[1:])) and len(_operands(words)) > 1
    if program in _PRINTERS_OF_WINDOWS:
        return len(words) > 1 and not words[1].startswith("-")
    return program in _PRINTERS and len(_operands(words)) > (program in _SCRIPTED)


def _prints_lines(script: str) -> bool:
    """Whether a script of awk gives lines as they are: `/^def f/,/^$/`, `NR > 9 {print}`."""
    actions = script.replace(" ", "").replace("\n", "")
    return "{" not in actions or "NR" in actions or any(words in actions for words in ("print}", "print;", "print$0"))


def _operands(words: Sequence[str]) -> list[str]:
    """What a command is given beside its options; up to where its output goes."""
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


def _is_blob(word: str) -> bool:
    """`HEAD:src/a.py` names a file's content, `--format=%h:%s` does not."""
    revision, colon, path = word.partition(":")
    return bool(revision and colon and path) and not word.startswith("-")
