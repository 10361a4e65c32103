"""A parser of shell lines that finds every simple command, at any depth.

Quotes, escapes, comments, redirections, heredocs, subshells, `$(…)`, backquotes and `<(…)` are parsed as bash parses
them. Quoted text is a word and never a command. A variable stands for what the line set it to before, and `$(echo …)`
for what it prints. Values known only to the running shell (other variables, globs, aliases) are not expanded, and of
escapes only the plainest. The parser takes one pass, in linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

MOST_CHARACTERS = 100_000  # half a second at worst
DEEPEST = 25  # substitutions within each other
STDIN = "/dev/stdin"
UNKNOWN = "$()"  # the word for a substitution, whose output only the running shell knows
_LONGEST_ARITHMETIC = 1_000


class UnreadableError(ValueError):
    """The line is too long or too deeply nested to be parsed in a hook."""


_BLANK, _ENDS = " \t\r", "\n;&|()"
_WRITES, _READS, _HEREDOC, _STRIPPED_HEREDOC, _HERE_STRING = "writes", "reads", "heredoc", "<<-", "here-string"
_REDIRECTIONS = {
    "<": _READS, "<&": _READS, "<<": _HEREDOC, "<<-": _STRIPPED_HEREDOC, "<<<": _HERE_STRING,
    **dict.fromkeys((">", ">>", ">|", ">&", "<>"), _WRITES),
}  # fmt: skip
_LONGEST_REDIRECTION = 3


class SimpleCommand:
    """One command: its words, the targets and sources of its redirections, its stdin, and the folder after each `cd`.

    `stdin` is None if it is unknown. `assigned` are the assignments before the program, once the words begin with the
    program.
    """

    def __init__(self, folder: str = "", words: list[str] | None = None, feeder: SimpleCommand | None = None) -> None:
        self.folder = folder
        self.words = [] if words is None else words
        self.assigned: list[str] = []
        self.targets: list[str] = []
        self.sources: list[str] = []
        self.stdin: str | None = None
        self.feeder = feeder


def program_name(word: str) -> str:
    """Return the name of a program without its folder, and without the version that `npx` takes."""
    name = word.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe")
    return name.partition("@")[0] or name


def folder_below(folder: str, path: str) -> str:
    """Return the folder that a command in a folder goes to. A variable is most often the top of the repository."""
    if path.startswith("$"):
        return ""
    return path if path.startswith(("/", "~")) or not folder else f"{folder}/{path}"


def read_commands(
    text: str, folder: str = "", depth: int = 0, variables: dict[str, list[str]] | None = None
) -> list[SimpleCommand]:
    """Return every simple command of a text, including those in substitutions. Raises UnreadableError."""
    reader = _Reader(text, folder, depth, variables=variables)
    reader.run("")
    return reader.commands


_FLAGS_OF_ECHO = {"-n", "-e", "-E", "-en", "-ne"}
_SETTING = {"declare", "export", "local", "readonly", "typeset"}


def printed(command: SimpleCommand) -> str | None:
    """Return what `echo`, `printf` or a `cat` of its stdin prints; None for what is not in the line."""
    name, rest = "".join(command.words[:1]).rsplit("/", 1)[-1], command.words[1:]
    if name == "cat" and not rest:
        return command.stdin
    if name == "echo":
        return " ".join(word for at, word in enumerate(rest) if at or word not in _FLAGS_OF_ECHO)
    if name != "printf" or not rest:
        return None
    text = rest[0].replace("\\n", "\n")
    for value in rest[1:]:
        text = text.replace("%s", value, 1) if "%s" in text else f"{text}\n{value}"
    return text


def _output(commands: list[SimpleCommand]) -> str:
    """Return what the commands of a substitution print, or the word for an unknown text."""
    text = printed(commands[0]) if len(commands) == 1 and not commands[0].targets else None
    return UNKNOWN if text is None else text.rstrip("\n")


def _note_variables(words: list[str], variables: dict[str, list[str]]) -> None:
    """Note the variables that a command sets, and forget those that it reads from elsewhere."""
    if words[0] == "for" and words[2:3] == ["in"]:
        variables[words[1]] = words[3:]
    elif "read" in words[:2]:
        for name in words:
            variables.pop(name, None)
    assigned = [word.partition("=") for word in words[words[0] in _SETTING :]]
    if all(sign and name.isidentifier() for name, sign, _ in assigned):
        variables.update((name, [value]) for name, _, value in assigned)


class _Reader:
    """Parses the commands of a text, word by word. Each substitution has its own reader."""

    def __init__(
        self, text: str, folder: str, depth: int, at: int = 0, variables: dict[str, list[str]] | None = None
    ) -> None:
        if len(text) > MOST_CHARACTERS or depth > DEEPEST:
            raise UnreadableError
        self._text, self.at, self._depth = text, at, depth
        self._word: list[str] | None = None
        self._is_quoted = False
        self._braces = 0  # open `${` and `$[`: up to the end of these all belongs to the word
        self._added = 0  # characters that stand for variables and substitutions
        self._variables: dict[str, list[str]] = {} if variables is None else variables
        self.commands: list[SimpleCommand] = []
        self._command = SimpleCommand(folder)
        self._folders = [folder]  # of the open subshells
        self._takes = ""  # the redirection whose target is the next word
        self._heredocs: list[tuple[SimpleCommand, str, bool, bool]] = []

    def run(self, closing: str) -> None:
        """Parse up to and including the closing sign, or to the end."""
        text, handlers = self._text, self._handlers()
        while self.at < len(text):
            sign = text[self.at]
            if sign == closing and len(self._folders) == 1:
                self.at += 1
                break
            handler = handlers.get(sign)
            if handler is not None:
                handler()
            else:
                self._add(sign)
                self.at += 1
        self._end_command()

    def _handlers(self) -> dict[str, Callable[[], None]]:
        special: dict[str, Callable[[], None]] = {
            "'": self._single, '"': self._double, "\\": self._escape, "$": self._dollar, "`": self._backquote,
            "#": self._comment, "<": self._redirect, ">": self._redirect, "}": self._brace,
        }  # fmt: skip
        return special | dict.fromkeys(_BLANK, self._blank) | dict.fromkeys(_ENDS, self._operator)

    def _blank(self) -> None:
        self._end_word()
        self.at += 1

    def _inside(self, begin: int, closing: str) -> str:
        """Parse the commands of a substitution that begins at `begin`, and return what they print."""
        reader = _Reader(self._text, self._command.folder, self._depth + 1, begin, self._variables)
        reader.run(closing)
        self.commands += reader.commands
        self.at = reader.at
        return _output(reader.commands)

    def _put(self, values: Sequence[str], *, in_quotes: bool) -> None:
        """Add what stands for a variable or a substitution. Without quotes each of its words is one."""
        self._added += sum(map(len, values))
        if self._added > MOST_CHARACTERS:
            raise UnreadableError
        for number, word in enumerate(values if in_quotes else " ".join(values).split()):
            if number:
                self._end_word()
            self._add(word)
            self._is_quoted |= in_quotes

    def _known_variable(self, *, in_quotes: bool) -> bool:
        """Add the value of a variable that the line has set, and return whether it is one."""
        is_braced = self._text[self.at + 1 : self.at + 2] == "{"
        begin = end = self.at + 1 + is_braced
        while self._text[end : end + 1].isalnum() or self._text[end : end + 1] == "_":
            end += 1
        end += end == begin and self._text[end : end + 1] in ("@", "*")
        values = self._variables.get(self._text[begin:end])
        if values is None or (is_braced and self._text[end : end + 1] != "}"):
            return False
        self._put(values, in_quotes=in_quotes)
        self.at = end + is_braced
        return True

    def _backquote(self, *, in_quotes: bool = False) -> None:
        begin = self.at = self.at + 1
        while self.at < len(self._text) and self._text[self.at] != "`":
            self.at += 2 if self._text[self.at] == "\\" else 1
        inner = self._text[begin : self.at].replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\")
        commands = read_commands(inner, self._command.folder, self._depth + 1)
        self.commands += commands
        self._put([_output(commands)], in_quotes=in_quotes)
        self.at += 1

    def _comment(self) -> None:
        if self._word is not None or self._braces:
            self._add("#")
            self.at += 1
            return
        end = self._text.find("\n", self.at)
        self.at = len(self._text) if end < 0 else end

    def _redirect(self) -> None:
        if self._text[self.at + 1 : self.at + 2] == "(":
            text = self._inside(self.at + 2, ")")
            self._add(UNKNOWN if text == UNKNOWN else STDIN)
            self._command.stdin = self._command.stdin if text == UNKNOWN else text
            return
        if self._word is not None and not self._is_quoted and "".join(self._word).isdigit():
            self._word = None  # the number of a descriptor
        self._end_word()
        sign = self._text[self.at : self.at + _LONGEST_REDIRECTION]
        while sign not in _REDIRECTIONS:
            sign = sign[:-1]
        words = (*self._command.words[:2], *self._command.words[-1:])  # where an assignment may stand
        is_index = any(word[:1].isalpha() and word.count("[") > word.count("]") for word in words)
        if sign in ("<<", "<<-") and (self._braces or is_index):
            raise UnreadableError  # bash reads `${a-<<b}` and may read `a[b <<c]d` as one word, and no text behind it
        self._takes = _REDIRECTIONS[sign]
        self.at += len(sign)

    def _brace(self) -> None:
        self._braces = max(0, self._braces - 1)
        self._add("}")
        self.at += 1

    def _operator(self) -> None:
        sign = self._text[self.at]
        if sign == "&" and self._text[self.at + 1 : self.at + 2] == ">":
            self._end_word()
            self.at += 1
            return
        doubled = sign == "(" and self._word is None and self._text[self.at + 1 : self.at + 2] == "("
        if doubled and self._skip_arithmetic(self.at):
            return
        before = self._end_command()
        is_or = self._text[self.at : self.at + 2] == "||"
        self.at += 1 + is_or
        if sign == "|" and not is_or:
            self._command.feeder = before
        elif sign == "(":
            self._folders.append(self._command.folder)
        elif sign == ")" and len(self._folders) > 1:
            self._command.folder = self._folders.pop()
        elif sign == "\n":
            self._read_heredocs()

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, takes, is_quoted = "".join(self._word), self._takes, self._is_quoted
        self._word, self._takes, self._is_quoted = None, "", False
        if not takes:
            self._command.words.append(word)
        elif takes == _WRITES and not word.isdigit() and word != "-":
            self._command.targets.append(word)
        elif takes == _READS and not word.isdigit() and word != "-":
            self._command.sources.append(word)
        elif takes == _HERE_STRING:
            self._command.stdin = word
        elif takes in (_HEREDOC, _STRIPPED_HEREDOC):
            self._heredocs.append((self._command, word, is_quoted, takes == _STRIPPED_HEREDOC))

    def _end_command(self) -> SimpleCommand:
        self._end_word()
        self._takes = ""  # of a redirection without a target, which must not take the next command's first word
        ended = self._command
        folder = ended.folder
        if ended.words[:1] == ["[["]:
            ended.targets.clear()  # `<` and `>` compare there
        if ended.words or ended.targets:
            self.commands.append(ended)
            if ended.words:
                _note_variables(ended.words, self._variables)
            if ended.words[:1] in (["cd"], ["pushd"]) and len(ended.words) > 1:
                folder = folder_below(folder, ended.words[1])
        self._command = SimpleCommand(folder)
        return ended

    def _read_heredocs(self) -> None:
        for command, ending, is_quoted, strips in self._heredocs:
            lines = []
            while self.at < len(self._text):
                end = self._text.find("\n", self.at)
                end = len(self._text) if end < 0 else end
                line, self.at = self._text[self.at : end].rstrip("\r"), end + 1
                line = line.lstrip("\t") if strips else line
                if line == ending:
                    break
                lines.append(line)
            command.stdin = "\n".join(lines)
            if not is_quoted and ("$(" in command.stdin or "`" in command.stdin):
                inner = _Reader(command.stdin, self._command.folder, self._depth + 1)
                inner._double("")
                self.commands += inner.commands
        self._heredocs.clear()

    def _add(self, piece: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(piece)

    def _single(self) -> None:
        end = self._text.find("'", self.at + 1)
        end = len(self._text) if end < 0 else end
        self._add(self._text[self.at + 1 : end])
        self._is_quoted, self.at = True, end + 1

    def _double(self, closing: str = '"') -> None:
        """Parse text in double quotes, or without a closing sign the body of a heredoc."""
        self._add("")
        self._is_quoted, self.at, outside = True, self.at + bool(closing), self._braces
        while self.at < len(self._text) and self._text[self.at] != closing:
            sign = self._text[self.at]
            if sign == "\\":
                following = self._text[self.at + 1 : self.at + 2]
                self._add(following.replace("\n", "") if following in '$`"\\\n' else sign + following)
                self.at += 2
            elif sign == "$":
                self._dollar(in_quotes=True)
            elif sign == "`":
                self._backquote(in_quotes=True)
            elif sign == "}" and self._braces > outside:  # others are closed outside of these quotes
                self._brace()
            else:
                self._add(sign)
                self.at += 1
        self.at += 1

    def _escape(self) -> None:
        following = self._text[self.at + 1 : self.at + 2]
        if following != "\n":
            self._add(following)
            self._is_quoted = True
        self.at += 2

    def _dollar(self, *, in_quotes: bool = False) -> None:
        following = self._text[self.at + 1 : self.at + 3]
        if self._known_variable(in_quotes=in_quotes):
            return
        if following == "((" and self._skip_arithmetic(self.at + 1):
            self._add(UNKNOWN)
        elif following[:1] == "$":  # the shell's own number, whatever follows
            self._add("$$")
            self.at += 2
        elif following[:1] == "(":
            self._put([self._inside(self.at + 2, ")")], in_quotes=in_quotes)
        elif following[:1] == "{" and self._text.find("}", self.at) < 0:  # it does not end
            self._add(self._text[self.at :])
            self.at = len(self._text)
        elif following[:1] == "'" and not in_quotes:
            self._ansi()
        elif following[:1] == '"' and not in_quotes:
            self.at += 1
        else:
            self._braces += following[:1] in ("{", "[")
            self._add("$")
            self.at += 1

    def _skip_arithmetic(self, begin: int) -> bool:
        """Skip `((…))`, and return False if it has commands, as a subshell within a subshell has."""
        end = self._text.find("))", begin, begin + _LONGEST_ARITHMETIC)
        inside = self._text[begin + 2 : max(begin, end)]
        if end < 0 or any(sign in inside for sign in ("$(", "`", ";", "\n")):
            return False
        self.at = end + 2
        return True

    def _ansi(self) -> None:
        """Parse `$'…'`."""
        self._add("")
        self._is_quoted, self.at = True, self.at + 2
        while self.at < len(self._text) and self._text[self.at] != "'":
            sign, length = self._text[self.at], 1
            if sign == "\\":
                sign, length = self._text[self.at + 1 : self.at + 2], 2
            self._add({"n": "\n", "t": "\t"}.get(sign, sign) if length > 1 else sign)
            self.at += length
        self.at += 1
