"""The program `unified-state` as a short file that starts the interpreter without `site`.

Installers write a script that loads `site`, and some of them `re` too, before a line of ours runs: half of what a
command like `show` takes. `install` replaces it, and only it, by a file that does without. What a command imports
from other packages is found all the same (`interfaces/cli/late_site.py`). Where the script cannot be replaced it stays.
"""

from __future__ import annotations

import os
import sys

from unified_state.errors import StorageError
from unified_state.lib.files import write_atomically
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.stdlib import SMALL_FILE, read_regular

_PROGRAM, _MODULE = "unified-state", "unified_state.interfaces.cli.main"
_LONGEST_LINE = 127  # bytes of a first line that every Linux kernel reads
_EXECUTABLE = 0o755


def write_program() -> bool:
    """Replace the installer's script beside this interpreter. Return whether the short file is there."""
    path, content = os.path.join(os.path.dirname(sys.executable), _PROGRAM), _content(sys.executable)
    if os.name != "posix" or content is None or os.path.islink(path):
        return False
    try:
        present = read_regular(path, SMALL_FILE)
        if present != content and _is_script(present):
            write_atomically(path, content, _EXECUTABLE)
            present = content
    except (OSError, StorageError):
        return False
    return present == content


def _content(interpreter: str) -> bytes | None:
    first_line = b"#!" + os.fsencode(interpreter) + b" -SP\n"
    if len(first_line) > _LONGEST_LINE or len(first_line.split()) != 2:  # noqa: PLR2004
        return None
    code = f"import sys\nsys.path.append({PACKAGE_ROOT!a})\nfrom {_MODULE} import main\nmain()\n"
    return first_line + b"# `unified-state install` wrote it.\n" + code.encode()


def _is_script(content: bytes) -> bool:
    """Return whether a file is the script of an installer, or an older file of ours."""
    return content.startswith(b"#!") and f"from {_MODULE} import main\n".encode() in content
