"""The words of a line of the shell: quotes, escapes, `$…` and arithmetic, as bash reads them.

What only the running shell knows (variables, globs) stays as it is written.
"""

from __future__ import annotations

MOST_CHARACTERS = 100_000  # half a second at worst
DEEPEST = 25  # substitutions within each other
UNKNOWN = "$()"  # what a substitution gives is known to the running shell alone
_LONGEST_ARITHMETIC = 1_000
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


class UnreadableError(ValueError):
    """A line that is too long or too deep to be read in a hook."""


class WordScanner:
    """Gathers the word that is being read. Who derives from it reads what stands in substitutions."""

    def __init__(self, text: str, depth: int, at: int = 0) -> None:
        if len(text) > MOST_CHARACTERS or depth > DEEPEST:
            raise UnreadableError
        self._text, self.at, self._depth = text, at, depth
        self._word: list[str] | None = None
        self._is_quoted = False
        self._scanned = 0  # characters that were looked at more than once

    def _inside(self, begin: int, closing: str) -> None:
        """Read the commands of a substitution that begins there."""
        raise NotImplementedError

    def _backquote(self) -> None:
        """Read the commands between backquotes."""
        raise NotImplementedError

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
        """What stands between double quotes, or without a closing sign the body of a heredoc."""
        self._add("")
        self._is_quoted, self.at = True, self.at + bool(closing)
        while self.at < len(self._text) and self._text[self.at] != closing:
            sign = self._text[self.at]
            if sign == "\\":
                following = self._text[self.at + 1 : self.at + 2]
                self._add(following.replace("\n", "") if following in '$`"\\\n' else sign + following)
                self.at += 2
            elif sign == "$":
                self._dollar(in_quotes=True)
            elif sign == "`":
                self._backquote()
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
        if following == "((" and self._skip_arithmetic(self.at + 1):
            self._add(UNKNOWN)
        elif following[:1] == "(":
            self._add(UNKNOWN)
            self._inside(self.at + 2, ")")
        elif following[:1] == "{":
            self._braces(in_quotes=in_quotes)
        elif following[:1] == "'" and not in_quotes:
            self._ansi()
        elif following[:1] == '"' and not in_quotes:
            self.at += 1
        else:
            self._add("$")
            self.at += 1

    def _skip_arithmetic(self, begin: int) -> bool:
        """Go behind `((…))`; False where it is none but a subshell within a subshell."""
        depth, at = 0, begin
        while at < min(len(self._text), begin + _LONGEST_ARITHMETIC):
            depth += {"(": 1, ")": -1}.get(self._text[at], 0)
            if self._text[at : at + 2] == "$(" and self._text[at + 2 : at + 3] != "(":
                return False  # a command in it: read as one
            if depth == 0:
                break
            at += 1
        self._scanned += at - begin
        if self._scanned > MOST_CHARACTERS:
            raise UnreadableError
        if depth or self._text[at - 1 : at + 1] != "))":
            return False
        self.at = at + 1
        return True

    def _braces(self, *, in_quotes: bool) -> None:
        """`${…}`, which may hold substitutions."""
        quotes = {"\\": self._escape, "`": self._backquote} | (
            {} if in_quotes else {"'": self._single, '"': self._double}
        )
        self._add("${")
        self.at += 2
        while self.at < len(self._text) and self._text[self.at] != "}":
            sign = self._text[self.at]
            handler = quotes.get(sign)
            if sign == "$" and self._text[self.at + 1 : self.at + 2] == "(":
                self._dollar()
            elif handler is not None:
                handler()
            else:
                self._add(sign)
                self.at += 1
        self._add("}")
        self.at += 1

    def _ansi(self) -> None:
        """`$'…'` with its escapes."""
        self._add("")
        self._is_quoted, self.at = True, self.at + 2
        while self.at < len(self._text) and self._text[self.at] != "'":
            sign = self._text[self.at]
            if sign == "\\":
                self.at += 1
                sign = self._text[self.at : self.at + 1]
                sign = _ESCAPED.get(sign, sign)
            self._add(sign)
            self.at += 1
        self.at += 1
