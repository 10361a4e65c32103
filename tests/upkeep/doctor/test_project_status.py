"""The status counts steps that have a text, and turns that have such a step."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import answer, prompt
from unified_state.archive.archive import Archive
from unified_state.archive.text_columns import forget_step
from unified_state.project.workspace.workspace import Workspace
from unified_state.upkeep.doctor.project_status import read_status


@pytest.mark.parametrize(
    ("forgotten", "left"),
    [((), (4, 2)), ((2,), (3, 2)), ((1, 2), (2, 1)), ((2, 3), (2, 2)), ((1, 2, 3, 4), (0, 0))],
)
def test_forgotten_steps_and_turns_that_have_no_others_do_not_count(
    archive: Archive, keep: Callable[..., None], workspace: Workspace, forgotten: tuple[int, ...], left: tuple[int, int]
) -> None:
    keep(prompt(1, "one"), answer(2, "done"), prompt(3, "two"), answer(4, "done again"))
    for number in forgotten:
        forget_step(archive, number)
    status = read_status(workspace, 0, {})
    assert (status.steps, status.turns) == left
