"""What a person sees on a terminal: colours, bold, and how much of long work is done. Pipes and files get plain text.

The codes are put around text that is visible already, so that recorded text can never set a colour itself. NO_COLOR
and TERM=dumb turn them off (https://no-color.org). An agent that reads a terminal gets plain text, too.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TextIO

from unified_state.hosts.transcripts.rules.hosts import AGENT_VARIABLES
from unified_state.settings import environment

Style = Literal["headings", "hits", "labels", "lists", "verdicts"]

_BOLD, _BOLD_RED, _GREEN, _BOLD_YELLOW, _CYAN = "1", "1;31", "32", "1;33", "36"
# `options:`, `Everyday`, `[DECISIONS] 2`, `--- S1 prompt`
_HEADING = (r"^(\[[A-Z][^\]\n]*\]|--- .*|usage:|[A-Za-z][\w -]*:$|[A-Za-z]\S*$)", _BOLD)
_STYLES: dict[Style, tuple[tuple[str, str], ...]] = {
    "headings": (_HEADING,),
    "hits": ((r"^( *\S+)", _CYAN), (r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*", _BOLD_YELLOW)),
    "labels": ((r"^(\S+)", _BOLD),),
    "lists": (_HEADING, (r"^(  \S+)(?=  )", _CYAN)),
    "verdicts": ((r"^(ok)(?= )", _GREEN), (r"^(BAD)(?= )", _BOLD_RED)),
}


def is_person(stream: TextIO) -> bool:
    """Return whether a person reads a stream: it is a terminal, and no agent started this process."""
    variables = environment()
    return stream.isatty() and not any(map(variables.get, AGENT_VARIABLES))


def painted(text: str, style: Style, stream: TextIO) -> str:
    """Return the text in a style, if a person reads the stream and its terminal may get control sequences."""
    variables = environment()
    if variables.get("NO_COLOR") or variables.get("TERM") == "dumb" or not is_person(stream):
        return text
    for pattern, codes in _STYLES[style]:
        text = re.sub(pattern, rf"\033[{codes}m\1\033[0m", text, flags=re.MULTILINE)
    return text


_MOMENT = 0.5  # seconds


@contextmanager
def progress_bar(title: str, total: int = 0) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the size of each part that is done. Work that takes longer than a moment shows how
    much of its total is done.
    """
    done, shown_at = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, shown_at
        done += count
        if total and time.monotonic() - shown_at > _MOMENT and is_person(sys.stderr):
            shown_at = time.monotonic()
            sys.stderr.write(f"\r{title}: {min(100, done * 100 // total)} % ")
            sys.stderr.flush()

    begun_at = shown_at
    try:
        yield advance
    finally:
        if shown_at > begun_at:
            sys.stderr.write(f"\r{' ' * (len(title) + len(': 100 % '))}\r")
