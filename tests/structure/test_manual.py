"""The manual page is generated and checked in, because the wheel installs it as it lies there."""

from __future__ import annotations

from tests.tools.make_manual import PAGE
from unified_state.interfaces.cli.manual import manual


def test_the_manual_page_that_is_checked_in_is_the_present_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == f"{manual()}\n", "run `make generate`"
