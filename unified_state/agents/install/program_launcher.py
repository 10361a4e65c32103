"""The program `unified-state` as a short file that starts the interpreter without `site`.

Installers write a script that loads `site`, and some of them `re` too, before a line of ours runs: half of what a
command like `show` takes. `install` replaces it, and only it, by a file that does without. What a command imports
from other packages is found all the same (`interfaces/cli/main.py`). Where the script cannot be replaced it stays,
and so it does where this process was not started by a script beside it: then it may have another copy of the package.

Hooks name the path of the program, so one in a cache must not install them. `uvx` and `pipx run` put programs into
folders below a cache that they clear at any time. Caches carry a tag (bford.info/cachedir), older ones of pipx only
their name. An environment may carry the tag itself, for backup programs.
"""

from __future__ import annotations

import os
import sys

from unified_state.errors import StorageError, UsageError
from unified_state.lib.files import write_atomically
from unified_state.lib.package import PACKAGE_ROOT, install_line
from unified_state.lib.read_files import SMALL_FILE, open_regular, read_regular

_PROGRAM, _MODULE = "unified-state", "unified_state.interfaces.cli.main"
_LONGEST_LINE = 127  # bytes of a first line that every Linux kernel reads
_EXECUTABLE = 0o755


def write_program() -> bool:
    """Replace the installer's script beside this interpreter. Return whether the short file is there."""
    folder = os.path.dirname(sys.executable or "")
    path, content = os.path.join(folder, _PROGRAM), _content(sys.executable or "")
    if os.name != "posix" or content is None or os.path.islink(path) or not _is_started_in(folder):
        return False
    try:
        present = read_regular(path, SMALL_FILE)
        if present != content and _is_script(present, sys.executable):
            write_atomically(path, content, _EXECUTABLE)
            present = content
    except (OSError, StorageError):
        return False
    return present == content


def _content(interpreter: str) -> bytes | None:
    first_line = b"#!" + os.fsencode(interpreter) + b" -SP\n"
    if not interpreter or len(first_line) > _LONGEST_LINE or len(first_line.split()) != 2:  # noqa: PLR2004
        return None
    code = f"""import sys
sys.path.append({PACKAGE_ROOT!a})
try:
    from {_MODULE} import main
except ModuleNotFoundError:  # the package was moved
    import site
    site.main()
    from {_MODULE} import main
main()
"""
    return first_line + b"# `unified-state install` wrote it.\n" + code.encode()


def _is_started_in(folder: str) -> bool:
    """Return whether this process runs one of the package's scripts in a folder."""
    script = os.path.realpath(sys.argv[0]) if sys.argv and sys.argv[0] else ""
    return os.path.dirname(script) == os.path.realpath(folder) and os.path.basename(script).startswith(_PROGRAM)


def _is_script(content: bytes, interpreter: str) -> bool:
    """Return whether a file is the script of an installer for this interpreter, or an older file of ours."""
    is_for_us = content.startswith(b"#!" + os.fsencode(interpreter))
    return is_for_us and f"from {_MODULE} import main\n".encode() in content


_TAG, _SIGNATURE = "CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55"
_NAMED = (("pipx", ".cache"), (".cache", "pipx"))  # folders in which pipx runs programs


def check_is_durable(prefix: str) -> None:
    """Raise UsageError if the environment at `prefix` lies in a cache."""
    cache = cache_around(prefix)
    if cache is not None:
        message = f"this program runs from a cache, {cache}, which is cleared at any time; hooks would break"
        raise UsageError(message, f"{install_line()}, then `unified-state install`; nothing was installed")


def cache_around(prefix: str) -> str | None:
    """Return the cache that a folder lies in, or None."""
    folder = os.path.dirname(os.path.realpath(prefix))
    while True:
        above, name = os.path.split(folder)
        if _is_tagged(folder) or (os.path.basename(above), name) in _NAMED:
            return folder
        if not name:
            return None
        folder = above


def _is_tagged(folder: str) -> bool:
    try:
        with open_regular(os.path.join(folder, _TAG)) as file:
            return file.read(SMALL_FILE).startswith(_SIGNATURE)
    except OSError:
        return False
