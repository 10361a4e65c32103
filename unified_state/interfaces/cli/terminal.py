"""What a person sees on a terminal: colours and bold. Pipes and files get plain text.

The codes are put around text that is visible already, so that recorded text can never set a colour itself. NO_COLOR
and TERM=dumb turn them off (https://no-color.org). An agent that reads a terminal gets plain text, too.
"""

from __future__ import annotations

import re
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
