"""How the agent's shell calls our command line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PROGRAM = "unified-state"


def own_program(environ: Mapping[str, str], interpreter: str = sys.executable) -> str | None:
    """By its name where the PATH has it, else by the path beside the interpreter; None where it is at neither.

    A shell looks through the PATH in its order. So behind a relative or empty entry, which leads into a stranger's
    repository, the name would not be safe.
    """
    for folder in environ.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(folder):
            break
        if os.access(os.path.join(folder, _PROGRAM), os.X_OK):
            return _PROGRAM
    beside = os.path.join(os.path.dirname(interpreter), _PROGRAM)
    return beside if os.access(beside, os.X_OK) else None
