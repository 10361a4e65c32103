"""The git hook `prepare-commit-msg` that names the agent's session in a commit: `Session: …`. The user asks for it.

Invariant: a hook that is not ours is neither changed nor removed, and no file is written to a folder of hooks that
`core.hooksPath` names, because other repositories may use it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from unified_state.agents.transcripts.rules.hosts import HOSTS
from unified_state.errors import StorageError, UsageError
from unified_state.lib.files import write_atomically
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.memory.repository.find_repository import Repository
from unified_state.memory.repository.git_state import run_git
from unified_state.model.hook_event import HOST_MARK

_NAME = "prepare-commit-msg"
_MARK = "# unified-state: names the agent's session in its commits; `unified-state uninstall` removes this file"
_HEAD = f"#!/bin/sh\n{_MARK}\n"
_COMMAND = 'git interpret-trailers --in-place --no-divider --if-exists doNothing --trailer "Session: $session" "$1"'
_SECONDS = 10.0


def add_trailer(repository: Repository, environ: Mapping[str, str]) -> str:
    """Write the hook, and return its path. Raises UsageError where git would not run it, or another hook is there."""
    if repository.common_dir is None:
        message = "there is no git repository here to add the trailer in"
        raise UsageError(message, "leave --trailer out")
    path = os.path.join(repository.common_dir, "hooks", _NAME)
    told = run_git(
        repository.worktree,
        ("rev-parse", "--git-path", "hooks"),
        environ,
        time.monotonic() + _SECONDS,
        encoding="utf-8",
        converts=False,
    )
    if told is None:
        message = "git does not say where its hooks are"
        raise UsageError(message, "check that git runs here, or leave --trailer out")
    folder = os.path.realpath(os.path.join(repository.worktree, told.rstrip("\n")))
    if folder != os.path.realpath(os.path.dirname(path)):
        message = f"core.hooksPath is {folder}, whose hooks may be those of other repositories too"
        raise UsageError(message, f"add this to {os.path.join(folder, _NAME)} yourself:\n{_script()}")
    if os.path.lexists(path) and not _is_ours(path):
        message = f"there is a hook already: {path}"
        raise UsageError(message, f"add this to it yourself:\n{_script()}")
    write_atomically(path, f"{_HEAD}{_script()}exit 0\n".encode(), 0o755)
    return path


def remove_trailer(repository: Repository) -> str | None:
    """Remove the hook if it is ours, and return its path, or None. Raises StorageError."""
    if repository.common_dir is None:
        return None
    path = os.path.join(repository.common_dir, "hooks", _NAME)
    if not os.path.lexists(path) or not _is_ours(path):
        return None
    try:
        os.unlink(path)
    except OSError as error:
        message = f"{path} cannot be removed: {error.strerror or error}"
        raise StorageError(message, "remove it yourself") from error
    return path


def _is_ours(path: str) -> bool:
    try:
        return read_regular(path, SMALL_FILE).startswith(_HEAD.encode())
    except OSError:
        return False


def _script() -> str:
    """Return the lines of the hook. A session's id is used only if it has no character that a shell or git obeys.

    A commit whose message is still to be written gets none: with the trailer alone git would not count it as empty.
    """
    lines = ["session=$CLAUDE_CODE_SESSION_ID"]
    for host in HOSTS.values():
        variable = host.session_variable
        if variable:
            lines.append(f'[ -z "$session" ] && [ -n "${variable}" ] && session="{host.name}{HOST_MARK}${variable}"')
    lines.append(f"case ${{2:-template}}:$session in template:* | *: | *[!A-Za-z0-9:._-]*) ;; *) {_COMMAND} ;; esac")
    return "\n".join([*lines, ""])
