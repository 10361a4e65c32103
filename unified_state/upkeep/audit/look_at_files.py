"""The memory files beside the ledger: `CLAUDE.md`, `AGENTS.md`, and the auto memory of the client for this project.

Only files inside the worktree, or inside the project's own memory folder, are read.
"""

from __future__ import annotations

import os

from unified_state.agents.install.claude_settings import config_folder
from unified_state.lib.record import Record
from unified_state.lib.stdlib import read_regular
from unified_state.lib.text import cut
from unified_state.memory.ledger.item_table import ACTIVE
from unified_state.memory.ledger.rules.short_item import main_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION
from unified_state.upkeep.audit.rules.alike import opposed
from unified_state.upkeep.audit.rules.mend import (
    CONTRADICTION,
    SECRET,
    Finding,
    blank_command,
    cut_command,
    end_command,
    shown,
    wipe_command,
)
from unified_state.upkeep.audit.rules.written_rules import Written, written_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unified_state.memory.repository.find_repository import Repository
    from unified_state.memory.secrets.masker import Masker
    from unified_state.model.item import LedgerItem

_OF_WORKTREE = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md")
_LARGEST, _MOST_MEMORIES = 1 << 18, 50  # bytes of a file; files of the auto memory
_SHOWN = 80  # characters of a sentence


class MemoryFile(Record):
    """A file of rules: its path without links, its path as it is shown, and its text."""

    path: str
    shown: str
    text: str


def memory_files(repository: Repository, environ: Mapping[str, str]) -> tuple[list[MemoryFile], list[str]]:
    """Return the memory files of a worktree, each once, and a line for each that cannot be read."""
    places = [(os.path.join(repository.worktree, name), name, repository.worktree) for name in _OF_WORKTREE]
    for folder in memory_folders(repository, environ):
        names = sorted(name for name in _names(folder) if name.endswith(".md"))[:_MOST_MEMORIES]
        places += [(os.path.join(folder, name), os.path.join(folder, name), folder) for name in names]
    files: dict[str, MemoryFile] = {}
    problems = []
    for path, name, folder in places:
        real = os.path.realpath(path)
        if not os.path.lexists(path) or real in files:
            continue
        if not real.startswith(os.path.join(os.path.realpath(folder), "")):
            problems.append(f"{name} is a link to a file elsewhere and was not read")
            continue
        try:
            files[real] = MemoryFile(real, name, read_regular(real, _LARGEST).decode("utf-8", "replace"))
        except OSError as error:
            problems.append(f"{name} was not read: {error.strerror}")
    return list(files.values()), problems


def memory_folders(repository: Repository, environ: Mapping[str, str]) -> list[str]:
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


def look_at_files(files: Sequence[MemoryFile], items: Sequence[LedgerItem], masker: Masker) -> Iterator[Finding]:
    """Yield the lines of memory files that contradict an active rule or decision, and those with a secret.

    What the user said holds, so the line goes. What a model recorded goes itself.
    """
    rules = [item for item in items if item.status == ACTIVE and item.kind in (CONSTRAINT, DECISION)]
    texts = [main_text(item) for item in rules]
    for file in files:
        statements = list(written_rules(file.text))
        for said, place in opposed(texts, [statement.text for statement in statements]):
            statement = statements[place]
            why = f'"{cut(masker.text(statement.text), _SHOWN)}" contradicts {shown(rules[said])}'
            command = _cutting(file, statement, place, masker)
            if rules[said].origin != USER_SAID:
                command = end_command(rules[said])
            yield Finding(CONTRADICTION, f"{file.shown}:{statement.line}", why, command)
        if masker.text(file.text) != file.text:
            yield from _secrets(file, masker)


def _cutting(file: MemoryFile, statement: Written, place: int, masker: Masker) -> str:
    if masker.text(statement.text) != statement.text:  # neither the command nor a copy may hold a secret
        return wipe_command(file.path, statement.line)
    if statement.is_whole:
        return blank_command(file.path, statement.line)
    return cut_command(file.path, statement.line, statement.text, place)


def _secrets(file: MemoryFile, masker: Masker) -> Iterator[Finding]:
    for number, line in enumerate(file.text.split("\n"), 1):
        if masker.text(line) != line:
            command = wipe_command(file.path, number)
            yield Finding(SECRET, f"{file.shown}:{number}", "a secret is written there", command)
