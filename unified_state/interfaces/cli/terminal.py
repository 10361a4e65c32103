"""What a person sees on a terminal: colours, bold, and a pager for long output. Pipes and files get plain text.

The codes are put around text that is visible already, so that recorded text can never set a colour itself. NO_COLOR
and TERM=dumb turn them off (https://no-color.org). An agent that reads a terminal gets plain text, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Literal, TextIO

from unified_state.agents.transcripts.rules.hosts import AGENT_VARIABLES
from unified_state.settings import environment

Style = Literal["headings", "hits", "labels", "lists", "verdicts"]

_BOLD, _RED, _GREEN, _YELLOW, _CYAN = "1", "31", "32", "33", "36"
_MARK = "**"  # around each found word in a hit
_HEADING = "--- "
_REF_LETTERS, _BEHIND_REF = (*"STKDCQEA",), ("", " ", ":", "\033")


def is_person(stream: TextIO) -> bool:
    """Return whether a person reads a stream: it is a terminal, and no agent started this process."""
    variables = environment()
    return stream.isatty() and not any(map(variables.get, AGENT_VARIABLES))


def painted(text: str, style: Style, stream: TextIO) -> str:
    """Return the text with each line in a style, if the stream shows colours."""
    return "\n".join(map(_STYLES[style], text.split("\n"))) if shows_codes(stream) else text


def shows_codes(stream: TextIO) -> bool:
    """Return whether a person reads a stream, and its terminal may get control sequences."""
    variables = environment()
    return not variables.get("NO_COLOR") and variables.get("TERM") != "dumb" and is_person(stream)


def print_to_person(text: str, style: Style | None, address: str = "") -> None:
    """Print visible text on a terminal, in a pager if it does not fit the screen.

    `address` is that of a viewer that runs. A ref at the begin of a line, or of a heading, links to its page there
    (OSC 8).
    """
    shown = text if style is None else painted(text, style, sys.stdout)
    if address and shows_codes(sys.stdout):
        shown = "\n".join(_linked(line, address) for line in shown.split("\n"))
    if _is_long(text):
        from unified_state.interfaces.cli.pager import page

        if page(shown):
            return
    sys.stdout.write(shown + "\n")


def _is_long(text: str) -> bool:
    if not (is_person(sys.stdout) and sys.stdin.isatty()):
        return False
    try:
        width, height = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return False
    if not (width and height):  # a terminal without a screen, as programs make them
        return False
    return sum(max(1, -(-len(line) // width)) for line in text.split("\n")) >= height


def _in(text: str, *codes: str) -> str:
    return f"\033[{';'.join(codes)}m{text}\033[0m" if text else ""


def _linked(line: str, address: str) -> str:
    """Return a line whose first word is a link, if it is a ref. `--- S1 prompt` begins with a ref, too."""
    bare = line.lstrip(" ")
    margin, codes = line[: len(line) - len(bare)], ""
    if bare.startswith("\033["):
        codes, _, bare = bare.partition("m")
        codes += "m"
    if bare.startswith(_HEADING):
        bare, codes = bare.removeprefix(_HEADING), codes + _HEADING
    letters = 1 if bare[:1] in _REF_LETTERS else 0
    end = letters
    while letters and bare[end : end + 1].isdigit():
        end += 1
    if end <= letters or bare[end : end + 1] not in _BEHIND_REF:
        return line
    ref = bare[:end]
    return f"{margin}{codes}\033]8;;{address}/{ref}\033\\{ref}\033]8;;\033\\{bare[end:]}"


def _labels(line: str) -> str:
    """Show the first word of a line in bold: `archive    4 turns`."""
    label, space, rest = line.partition(" ")
    return f"{_in(label, _BOLD)}{space}{rest}"


def _headings(line: str) -> str:
    """Show a line in bold if it is a heading: `options:`, `Everyday`, `[DECISIONS] 2`, `--- S1 prompt`."""
    head, bracket, rest = line.partition("]")
    if line.startswith("[") and bracket and head[1:2].isupper():
        return _in(head + bracket, _BOLD) + rest
    if line.startswith("--- "):
        return _in(line, _BOLD)
    if line.startswith("usage: "):
        return _in("usage:", _BOLD) + line[6:]
    return _in(line, _BOLD) if line[:1].isalpha() and (line.endswith(":") or " " not in line.strip()) else line


def _lists(line: str) -> str:
    """Show headings in bold, and the command at the start of an indented line in colour."""
    if not line.startswith("  ") or line.startswith("   "):
        return _headings(line)
    name, space, rest = line[2:].partition("  ")
    return f"  {_in(name, _CYAN)}{space}{rest}"


def _hits(line: str) -> str:
    """Show the ref of a hit in colour and its found words in bold."""
    margin = line[: len(line) - len(line.lstrip())]
    ref, space, rest = line[len(margin) :].partition(" ")
    parts = rest.split(_MARK)
    if len(parts) % 2 == 0:  # an odd number of marks: the text has some of its own
        return margin + _in(ref, _CYAN) + space + rest
    shown = (_in(part, _BOLD, _YELLOW) if at % 2 else part for at, part in enumerate(parts))
    return margin + _in(ref, _CYAN) + space + "".join(shown)


def _verdicts(line: str) -> str:
    """Show `ok` in green and `BAD` in red."""
    word, space, rest = line.partition(" ")
    codes = {"ok": (_GREEN,), "BAD": (_BOLD, _RED)}.get(word)
    return f"{_in(word, *codes)}{space}{rest}" if codes else line


_STYLES: dict[str, Callable[[str], str]] = {
    "headings": _headings,
    "hits": _hits,
    "labels": _labels,
    "lists": _lists,
    "verdicts": _verdicts,
}
