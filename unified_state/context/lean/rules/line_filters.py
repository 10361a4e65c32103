"""Which commands give the lines of what they read as they are, all or some of them, and which make something else of
them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_AWKS = frozenset(("awk", "gawk", "mawk"))
_SEARCHES = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack"))
_QUERIES = frozenset(("jq", "yq"))
INTERPRETERS = frozenset(("bun", "deno", "node", "perl", "php", "python", "python3", "ruby"))
_MAKERS = INTERPRETERS | {  # what they print is their own
    "base64", "comm", "diff", "file", "md5sum", "sha256sum", "sort", "strings", "uniq", "wc", "xargs",
}  # fmt: skip
# The words before the files: a script, a pattern, a set of signs.
SCRIPTS = dict.fromkeys((*_AWKS, *_SEARCHES, *_QUERIES, "gsed", "perl", "sed", "tr"), 1)
_VALUED = {  # the options of a program behind which a value stands
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
_MANY_AROUND = 10  # lines around a match: whoever asks for so many reads on
_AROUND = frozenset(("--context", "--after-context", "--before-context"))
_READS = ("open(", "read_text(", "readFileSync(", "readTextFile", "file_get_contents(", "File.read", "IO.read")
_TAKES_APART = ("json", "JSON", "yaml", "csv", "toml", "re.", ".match(", "Counter(", "len(", "subprocess", "ast.")
_JSON_TOOL = ("-m", "json.tool")
_PRINTS_LINE = ("print if", "print unless", "print;", "print}", "print }")


def gives_lines(words: Sequence[str]) -> bool:
    """Whether a command gives the lines on that it reads, if not all of them."""
    program = words[0]
    gives = _FILTERING.get(program)
    if gives is not None:
        return gives(words)
    return program not in _MAKERS or tuple(words[1:3]) == _JSON_TOOL


def operands(words: Sequence[str]) -> list[str]:
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


def prints_a_file(words: Sequence[str]) -> bool:
    """Whether the script of an interpreter reads a file and prints of it, and takes it apart in no way that is seen."""
    if tuple(words[1:3]) == _JSON_TOOL:
        return len(operands(words)) > 1
    script = max(words[1:], key=len, default="")
    return any(map(script.__contains__, _READS)) and not any(map(script.__contains__, _TAKES_APART))


def _prints_lines_of_awk(words: Sequence[str]) -> bool:
    return any(map(_prints_lines, operands(words)[:1]))


def _prints_lines(script: str) -> bool:
    """Whether a script of awk gives lines as they are: `/^def f/,/^$/`, `NR > 9 {print}`, `/^def/{f=1} f`."""
    actions = script.replace(" ", "").replace("\n", "")
    return not actions.endswith("}") or any(words in actions for words in ("NR", "print}", "print;", "$0"))


def _prints_lines_of_perl(words: Sequence[str]) -> bool:
    """Whether it is `perl -pe …` or `perl -ne 'print if …'`."""
    loops = "".join(word for word in words[1:] if word[:1] == "-" and word[1:].isalpha() and word.endswith("e"))
    return "p" in loops or ("n" in loops and any(printing in word for word in words[2:] for printing in _PRINTS_LINE))


def _gives_most_lines(words: Sequence[str]) -> bool:
    """Whether a search is none: for what is not a comment, for every line, for a line and the page that follows it."""
    takes_all = not _EVERY_LINE.isdisjoint(operands(words)[:1])
    return takes_all or any(map(_is_inverted, words[1:])) or max(_lines_around(words), default=0) >= _MANY_AROUND


def _is_inverted(word: str) -> bool:
    return word in {"--invert-match", "--passthru"} or (
        word.startswith("-") and not word.startswith("--") and "v" in word
    )


def _lines_around(words: Sequence[str]) -> Iterator[int]:
    """How many lines around a match are asked for: `-A30`, `-nA 30`, `--context=30`."""
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
FILTERS = frozenset(_FILTERING)  # some of what they print is a file's content
