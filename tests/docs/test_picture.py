"""The picture of the README is drawn from a run of the demonstration."""

from __future__ import annotations

from tests.docs.pages import ROOT
from tests.tools.make_picture import PICTURE, demonstration, drawn


def test_the_picture_shows_what_the_demonstration_finds() -> None:
    assert PICTURE.read_text(encoding="utf-8") == drawn(demonstration()["facts"]), "run `make generate`"


def test_the_readme_shows_the_picture() -> None:
    assert f"({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text(encoding="utf-8")
