"""The client's settings files: where they lie, and what stands in them as the client takes it.

Invariant: a file that the client ignores, since it is not valid JSON, holds nothing here. Who changes one reads it
strictly (`services/installation.py`).
"""

from __future__ import annotations

import os

from unified_state.lib.stdlib import parse_json
from unified_state.memory.repository.find_repository import find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


def config_folder(environ: Mapping[str, str]) -> str:
    """The client's own folder."""
    return environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")


def settings_files(project: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The settings files that the client reads when it starts in a folder, each with its scope.

    Those of the scope `local` are also read from the top of the worktree, and from the main worktree of a linked one.
    """
    yield "user", os.path.join(config_folder(environ), "settings.json")
    yield "project", os.path.join(project, ".claude", "settings.json")
    repository = find_repository(project, ".claude")
    main = os.path.dirname(repository.common_dir) if repository.common_dir else repository.worktree
    for folder in dict.fromkeys((project, repository.worktree, main)):
        yield "local", os.path.join(folder, ".claude", "settings.local.json")


def settings_in(path: str, word: str = "") -> Any:
    """What stands in a settings file; None where it cannot be read, or does not have a certain word."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    return parsed_settings(text) if word in text else None


def parsed_settings(text: str) -> Any:
    """Settings as a value; None where they are not valid JSON."""
    try:
        return parse_json(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
