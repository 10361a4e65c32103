"""The status counts steps that have a text."""

from __future__ import annotations

from collections.abc import Callable

from tests.builders import answer, prompt
from unified_state.archive.archive import Archive
from unified_state.archive.text_columns import forget_step
from unified_state.project.workspace.workspace import Workspace
from unified_state.upkeep.doctor.project_status import status_of


def test_forgotten_steps_do_not_count(archive: Archive, keep: Callable[..., None], workspace: Workspace) -> None:
    keep(prompt(1, "one"), answer(2, "done"), prompt(3, "two"), answer(4, "done again"))
    for number in (2, 3):
        forget_step(archive, number)
    assert status_of(archive, workspace, 0, {}).steps == 2
