"""Hooks name the path of the program, so one in a cache must not install them.

`uvx` and `pipx run` put programs into folders below a cache that they clear at any time. Caches carry a tag
(bford.info/cachedir), older ones of pipx only their name. An environment may carry the tag itself, for backup programs.
"""

from __future__ import annotations

import os

from unified_state.errors import UsageError
from unified_state.lib.package import install_line
from unified_state.lib.read_files import SMALL_FILE, open_regular

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
