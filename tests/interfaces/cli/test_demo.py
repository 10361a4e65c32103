"""What the demonstration promises: the facts that the summary lost come back, also when other turns follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.transcripts import Transcript
from unified_state.interfaces.cli.commands.demo import _SESSION, Demonstration, _Demo

_LAST = "38499a96-101d-5ca7-868b-366e581058b4"  # the last entry of the demonstration's own


def demonstrate(folder: Path, trivial_turns: int) -> Demonstration:
    """The demonstration, with some turns that tell nothing after its own."""
    written = Transcript(_SESSION, cwd="/home/dev/shop", parent=_LAST)
    for number in range(trivial_turns):
        written.prompt(f"Fix the typo number {number} in the docs, please.")
        path = f"/home/dev/shop/docs/page{number}.md"
        written.call(
            "Edit", {"file_path": path, "old_string": "teh", "new_string": "the"}, "The file has been updated."
        )
        written.text(f"The typo number {number} is fixed.")
    return _Demo(str(folder)).run([line.decode() for line in written.lines])


@pytest.mark.parametrize(("trivial_turns", "at_least"), [(0, 10), (5, 10), (20, 9)])
def test_of_the_ten_facts_that_the_summary_lost_so_many_come_back(
    tmp_path: Path, trivial_turns: int, at_least: int
) -> None:
    done = demonstrate(tmp_path, trivial_turns)
    lost = [fact for fact in done.facts if not fact.in_summary]
    missing = [fact.name for fact in lost if not fact.restored]
    assert len(lost) == 10
    assert len(missing) <= 10 - at_least, missing


def test_the_page_on_what_a_restore_says_shows_what_the_demonstration_gives_back(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "explanation" / "what-a-restore-says.md"
    shown = page.read_text(encoding="utf-8").split("```")[1].splitlines()[1:]
    given = demonstrate(tmp_path, 0).restored.splitlines()
    places = [given.index(line) for line in shown]
    assert len(places) > 10
    assert places == sorted(places)
