"""The name or path by which the agent's shell runs the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_PROGRAM = "unified-state"


def own_program(environ: Mapping[str, str], interpreter: str = sys.executable) -> str | None:
    """Return the program's name where the PATH has it, else its path beside the interpreter, else None.

    Entries behind a relative or empty entry of the PATH do not count: the shell would look into the repository first.
    """
    for folder in environ.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(folder):
            break
        if os.access(os.path.join(folder, _PROGRAM), os.X_OK):
            return _PROGRAM
    beside = os.path.join(os.path.dirname(interpreter), _PROGRAM)
    return beside if os.access(beside, os.X_OK) else None
