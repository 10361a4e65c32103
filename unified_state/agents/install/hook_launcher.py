"""The short program that the hooks in a client's settings call: `…/bin/unified-state-hook PreCompact`.

The client shows a hook's whole command after each `/compact`, to the user and to the model. So `install` writes a small
executable beside `unified-state`, which starts the interpreter isolated (`-I -S`), as the long form does. Where the
system cannot start one, the hooks keep the long form: Windows, a folder that cannot be written to, an interpreter whose
path is too long or has blanks.

The file takes the place of a script that installers write (`interfaces/hook_script.py`). So it goes when the program is
uninstalled, and after an update the script is there until it has made itself the launcher again.
"""

from __future__ import annotations

import os
import sys
from ast import literal_eval

from unified_state.agents.install.hook_table import (
    HOOK_MODULE,
    LAUNCHER,
    QUICK_HOOKS,
    WORDS,
    called_root,
    hook_interpreter,
    is_launched,
    launchers_interpreter,
)
from unified_state.errors import StorageError
from unified_state.lib.files import write_atomically
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.stdlib import SMALL_FILE, open_regular, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST_LINE = 127  # bytes of a first line that every Linux kernel reads
_ROOT = "sys.path.append("
_PROGRAM = "unified-state"
_EXECUTABLE = 0o755


def write_launcher() -> str:
    """Write the launcher beside this program and return its path, or "" if hooks need the long form here."""
    path, content = _path(), _content()
    if not path or content is None:
        return ""
    if not _is_current(path):
        try:
            write_atomically(path, content, _EXECUTABLE)
        except StorageError:
            return ""
    return path


def planned_launcher() -> str:
    """Return the path that `write_launcher` would return, and write nothing."""
    path, content = _path(), _content()
    if not path or content is None:
        return ""
    return path if _is_current(path) or os.access(os.path.dirname(path), os.W_OK) else ""


def launcher() -> str:
    """Return the path of the launcher of this program, or "" if there is none or it calls another program."""
    path = _path()
    return path if path and _is_current(path) else ""


def _content() -> bytes | None:
    return launcher_text(hook_interpreter(), PACKAGE_ROOT)


def launcher_text(interpreter: str, root: str) -> bytes | None:
    """Return the content of a launcher, or None if the system cannot start such a file."""
    first_line = b"#!" + os.fsencode(interpreter) + b" -IS\n"
    if len(first_line) > _LONGEST_LINE or len(first_line.split()) != 2 or _is_script(interpreter):  # noqa: PLR2004
        return None
    return first_line + _code(root).encode()


def _code(root: str) -> str:
    lines = [
        "# Starts a hook of unified-state. `unified-state install` wrote it.",
        "import gc, sys",
        "gc.set_threshold(100000)",
        f"{_ROOT}{root!a})",
        "word = sys.argv[1] if len(sys.argv) > 1 else ''",
    ]
    for module, word in WORDS.items():
        called = QUICK_HOOKS.get(word, module)
        lines += [f"if word == {word!r}:", "    del sys.argv[1]", f"    from {called} import main", "    main()"]
    for event in (word for word in QUICK_HOOKS if word not in WORDS.values()):
        lines += [f"if word == {event!r}:", f"    from {QUICK_HOOKS[event]} import main", "    main()"]
    return "\n".join([*lines, f"from {HOOK_MODULE} import main", "main()", ""])


def called_program(handler: Any) -> tuple[str, str] | None:
    """Return the interpreter and the package folder that our handler calls, or None if the handler or its launcher is
    not in a form that `install` writes.
    """
    command = str(handler.get("command"))
    if is_launched(handler):
        known = _program_of_launcher(command)
        is_own = known is None and command == _path()  # the installer's script, until a hook has run
        return (hook_interpreter(), PACKAGE_ROOT) if is_own else known
    root = called_root(handler)
    return None if root is None else (command, root)


def _program_of_launcher(path: str) -> tuple[str, str] | None:
    interpreter = launchers_interpreter(path)
    try:
        text = read_regular(path, SMALL_FILE).decode()
        root = str(literal_eval(text.partition(_ROOT)[2].partition(")\n")[0]))
    except (OSError, ValueError, SyntaxError):
        return None
    return (interpreter, root) if text.partition("\n")[2] == _code(root) else None


def _path() -> str:
    """Return where the launcher lies: beside the program `unified-state` of this interpreter, or ""."""
    if os.name != "posix":
        return ""
    folder = os.path.dirname(sys.executable)
    return os.path.join(folder, LAUNCHER) if os.path.isfile(os.path.join(folder, _PROGRAM)) else ""


def _is_current(path: str) -> bool:
    """Return whether a launcher is there that calls this program. An environment has its interpreter by several
    names.
    """
    program = _program_of_launcher(path) if os.access(path, os.X_OK) else None
    if program is None:
        return False
    interpreter, root = program
    wanted = hook_interpreter()
    is_same = os.path.dirname(interpreter) == os.path.dirname(wanted)
    return is_same and os.path.realpath(interpreter) == os.path.realpath(wanted) and root == PACKAGE_ROOT


def _is_script(interpreter: str) -> bool:
    """Return whether an interpreter is a script itself, which some systems do not start for another script."""
    try:
        with open_regular(interpreter) as file:
            return bool(file.read(2) == b"#!")
    except OSError:
        return True
