"""The memory files beside the ledger: `CLAUDE.md`, `AGENTS.md`, and the auto memory of the client for this project.

Only files inside the worktree, or inside the project's own memory folder, are read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from unified_state.agents.install.claude_settings import config_folder
from unified_state.lib.read_files import read_regular
from unified_state.memory.repository.find_repository import Repository

_OF_WORKTREE = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md")
_LARGEST, _MOST_MEMORIES = 1 << 18, 50  # bytes of a file; files of the auto memory


def read_memory_files(repository: Repository, environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the texts of the memory files of a worktree by their names, and a line for each that cannot be read."""
    places = [(os.path.join(repository.worktree, name), name, repository.worktree) for name in _OF_WORKTREE]
    for folder in _memory_folders(repository, environ):
        paths = [os.path.join(folder, name) for name in sorted(_names(folder)) if name.endswith(".md")]
        places += [(path, path, folder) for path in paths[:_MOST_MEMORIES]]
    texts: dict[str, str] = {}
    unread = []
    for path, name, folder in places:
        if not os.path.lexists(path):
            continue
        if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), "")):
            unread.append(f"{name} is a link to a file elsewhere and was not read")
            continue
        try:
            texts[name] = read_regular(os.path.realpath(path), _LARGEST).decode("utf-8", "replace")
        except OSError as error:
            unread.append(f"{name} was not read: {error.strerror}")
    return texts, unread


def _memory_folders(repository: Repository, environ: Mapping[str, str]) -> list[str]:
    """Return the folders in which Claude Code keeps its memory of a project: by the worktree, and by the main one."""
    main = os.path.dirname(repository.common_dir) if repository.common_dir else repository.worktree
    projects = os.path.join(config_folder(environ), "projects")
    names = dict.fromkeys(_project_name(folder) for folder in (repository.worktree, main))
    return [os.path.join(projects, name, "memory") for name in names]


def _project_name(folder: str) -> str:
    return "".join(character if character.isascii() and character.isalnum() else "-" for character in folder)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # most projects have none
        return []
