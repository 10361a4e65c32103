"""What every command does before it touches anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interfaces.cli.screen import run
from unified_state.errors import NotAtGateError
from unified_state.interfaces.cli.command_context import Context
from unified_state.model.item import CONSTRAINT, EVIDENCE
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.writer.record_state import add_item


def test_a_rule_that_waits_for_the_archive_is_not_taken_away_either(workspace: Workspace) -> None:
    add_item(workspace, EVIDENCE, {"type": "error", "content": "no rule", "source": "make"})
    os.rename(workspace.place.archive_path, aside := f"{workspace.place.archive_path}.aside")
    os.mkdir(workspace.place.archive_path)  # nothing can be opened there
    add_item(workspace, CONSTRAINT, {"constraint": "Never push", "source": "the user", "blocking": True})
    os.rmdir(workspace.place.archive_path)
    os.rename(aside, workspace.place.archive_path)
    with pytest.raises(NotAtGateError, match="uninstalls while constraint C1 is in force"):
        Context(as_json=False).check_may_take_away(workspace.place, workspace.settings, "uninstalls")


@pytest.mark.parametrize(
    "words",
    [
        "search --since 1d --tool Bash",
        "search --since 1d --team",
        "list decision --at HEAD",
        "forget --vacuum --dry-run",
    ],
)
def test_an_option_that_would_be_ignored_is_refused(repository: Path, words: str) -> None:
    assert run("todo", "Write the test", cwd=repository).returncode == 0
    done = run(*words.split(), cwd=repository)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
