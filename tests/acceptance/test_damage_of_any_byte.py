"""Whatever single byte of our files a disk changes: no bug, no traceback, no hang, nothing lost without a word.

A few hundred bytes by default; `make damages` tries ten thousand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .one_byte import Victim, report
from .product import Project

PARTS = 4  # for as many processors


@pytest.fixture
def victim(project: Project, tmp_path: Path) -> Victim:
    """A project whose bytes can be damaged."""
    return Victim(project, tmp_path)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_damaged_byte_is_a_bug_or_loses_anything_without_a_word(
    victim: Victim, part: int, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    damages = victim.damages(pytestconfig.getoption("damages"))[part::PARTS]
    outcomes = [(damage, victim.meet(damage)) for damage in damages]
    wrong = {damage: outcome.wrong for damage, outcome in outcomes if outcome.wrong}
    with capsys.disabled():
        print(f"\n{report(outcomes)}\n{len(wrong)} went wrong")
    assert wrong == {}
