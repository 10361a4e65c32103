"""What a command prints and which variables it sets, where that stands in the line (`echo`, `printf`, `export A=b`)."""

from __future__ import annotations

_SETTING = {"declare", "export", "local", "readonly", "typeset"}
_OCTAL, _HEXADECIMAL = frozenset("01234567"), frozenset("0123456789abcdefABCDEF")
_DIGITS = {"x": 2, "u": 4, "U": 8}  # most digits of an escape
_CHARACTERS = range(1, 0xD800)  # others have no place in a command
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


def printed(words: list[str], stdin: str | None) -> str | None:
    """Return what a command prints, None for other commands and for what is not in the line."""
    name, rest = words[0].rsplit("/", 1)[-1] if words else "", words[1:]
    if name == "cat":
        return None if rest else stdin
    if name == "echo":
        return _echoed(rest)
    return _formatted(rest) if name == "printf" else None


def note_variables(words: list[str], variables: dict[str, list[str]]) -> None:
    """Note the variables that a command sets, and forget those that it reads from elsewhere."""
    if words[0] == "for" and words[2:3] == ["in"]:
        variables[words[1]] = words[3:]
    elif "read" in words[:2]:
        for name in words:
            variables.pop(name, None)
    assigned = [word.partition("=") for word in words[words[0] in _SETTING :]]
    if all(sign and name.isidentifier() for name, sign, _ in assigned):
        variables.update((name, [value]) for name, _, value in assigned)


def _echoed(words: list[str]) -> str:
    escapes = False
    while words and words[0] in {"-n", "-e", "-E", "-en", "-ne"}:
        escapes |= "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    return _with_escapes(text) if escapes else text


def _formatted(words: list[str]) -> str:
    """Return what `printf` prints, with a line for each argument that its format has no `%s` for."""
    if words[:1] == ["-v"]:
        return ""
    words = words[words[:1] == ["--"] :]
    text = _with_escapes("".join(words[:1]))
    for value in words[1:]:
        text = text.replace("%s", value, 1) if "%s" in text else f"{text}\n{value}"
    return text


def _with_escapes(text: str) -> str:
    found, at = "", 0
    while at < len(text):
        sign, length = unescaped(text, at) if text[at] == "\\" else (text[at], 1)
        found, at = found + sign, at + length
    return found


def unescaped(text: str, at: int) -> tuple[str, int]:
    """Return the character that the escape at `at` stands for in `$'…'` or a format of printf, and its length."""
    sign = text[at + 1 : at + 2]
    digits, most, begin = (_OCTAL, 3, at + 1) if sign in _OCTAL else (_HEXADECIMAL, _DIGITS.get(sign, 0), at + 2)
    end = begin
    while end < begin + most and text[end : end + 1] in digits:
        end += 1
    if end == begin:
        return _ESCAPED.get(sign, sign), 2
    code = int(text[begin:end], 8 if digits is _OCTAL else 16)
    return (chr(code) if code in _CHARACTERS else "\ufffd"), end - at
