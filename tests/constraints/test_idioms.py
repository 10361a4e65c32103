"""How many commands written by hand the constraints stop. The documentation has the figure."""

from __future__ import annotations

from pathlib import Path

from tests.constraints.idiom_share import idioms, is_stopped, share

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "make-a-rule-hold.md"


def test_no_harmless_command_is_stopped() -> None:
    assert [(one.scope, one.text) for one in idioms() if not one.breaks and is_stopped(one)] == []


def test_the_documentation_has_the_share_that_is_stopped() -> None:
    assert share() in " ".join(PAGE.read_text(encoding="utf-8").split())


def test_there_are_many_of_each_and_none_twice() -> None:
    for breaks in (True, False):
        texts = [(one.scope, one.text) for one in idioms() if one.breaks == breaks]
        assert len(texts) == len(set(texts)) > 150
