"""The values of a JSON list in a file, one by one: never more of a file is in memory than its largest value."""

from __future__ import annotations

from json import JSONDecodeError, JSONDecoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TextIO

_AT_ONCE = 1 << 20  # characters
_LONGEST_VALUE = 1 << 28  # characters; what is longer is damaged, or meant to fill the memory
_SPACE = " \t\r\n"


def list_values(file: TextIO) -> Iterator[Any]:
    """The values of the list that a file holds. Raises ValueError, RecursionError where it is none that can be read."""
    text = _Window(file)
    text.take("[")
    if text.next_sign() == "]":
        text.take("]")
    else:
        yield text.take_value()
        while text.next_sign() == ",":
            text.take(",")
            yield text.take_value()
        text.take("]")
    if text.next_sign():
        message = "it goes on after its end"
        raise ValueError(message)


class _Window:
    """The part of a file that is being read."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._decode = JSONDecoder(strict=False, parse_constant=lambda _constant: None).raw_decode

    def next_sign(self) -> str:
        """The next character that is no space; none at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_on(_AT_ONCE):
                return ""

    def take(self, sign: str) -> None:
        """Go over the next sign, which has to be this one."""
        if self.next_sign() != sign:
            message = f"it has {self.next_sign() or 'its end'!r} where {sign!r} belongs"
            raise ValueError(message)
        self._at += 1

    def take_value(self) -> Any:
        """Go over the next value."""
        self.next_sign()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except JSONDecodeError as error:
                if not self._read_on(len(self._text)):
                    raise ValueError(error.msg) from None  # without its place, which is one in the window
                continue
            may_go_on = len(self._text) - end < len("e+1")  # a number that the end of the window cuts
            if not (may_go_on and self._read_on(_AT_ONCE)):
                self._at = end
                return value

    def _read_on(self, characters: int) -> bool:
        """Read more, and let go of what was taken; False at the end of the file."""
        more = self._file.read(max(_AT_ONCE, characters))
        if not more:
            return False
        self._text, self._at = self._text[self._at :] + more, 0
        if len(self._text) > _LONGEST_VALUE:
            message = "it holds a value that is too long"
            raise ValueError(message)
        return True
