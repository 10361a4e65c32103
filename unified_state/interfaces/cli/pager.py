"""The pager of a person at a terminal: `$PAGER`, or else `less`.

An agent's terminal gets none, because an agent cannot quit it.
"""

from __future__ import annotations

import shlex
import subprocess
from contextlib import suppress

from unified_state.agents.transcripts.rules.hosts import AGENT_VARIABLES
from unified_state.lib.shell.search_path import find_program
from unified_state.settings import environment

_LESS = "FRX"  # quit if all fits, show colours, leave the text on the screen
_NONE = {"", "cat"}


def page(text: str) -> bool:
    """Show a text in the pager. Return False if there is none."""
    variables = environment()
    wanted = variables.get("PAGER", "less")
    if wanted in _NONE or any(map(variables.get, AGENT_VARIABLES)):
        return False
    try:
        name, *options = shlex.split(wanted)
    except ValueError:  # an unclosed quote
        return False
    path = find_program(name, variables)
    if path is None:
        return False
    pager = subprocess.Popen(
        [path, *options], stdin=subprocess.PIPE, text=True, errors="backslashreplace", env={"LESS": _LESS, **variables}
    )
    _feed(pager, text)
    return True


def _feed(pager: subprocess.Popen[str], text: str) -> None:
    """Give the text to the pager, and wait until the person quits it. ^C is for the pager, as in git."""
    with suppress(BrokenPipeError, KeyboardInterrupt):
        pager.communicate(text + "\n")
    while True:
        try:
            pager.wait()
        except KeyboardInterrupt:  # the pager has it too, and decides
            continue
        return
