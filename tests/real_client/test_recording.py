"""The picture of the README shows what the product says today."""

from __future__ import annotations

import pytest

from evaluation.recording import PICTURE, drawn, ours_in, recorded
from tests.docs.pages import ROOT

from .scenario import NEW_MODEL, Scenario

pytestmark = pytest.mark.usefixtures("tmux")


@pytest.mark.parametrize("model", [NEW_MODEL])
def test_the_recording_shows_what_the_product_says(scenario: Scenario) -> None:
    picture = PICTURE.read_text(encoding="utf-8")
    assert ours_in(picture) == ours_in(drawn([[], recorded(scenario, with_product=True)])), "run `make recording`"
    assert f"({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text(encoding="utf-8")
