"""The machine's own Chromium, for tests of pages. They skip where it is not installed; with
UNIFIED_STATE_REQUIRE_CHROMIUM=1, as in continuous integration, that is a failure.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

# Tests run as root too, and where shared memory is small.
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
_NAMES = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parents[1] / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"


def find_chromium() -> str:
    """The path of the program."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    return found or _give_up("there is no Chromium; apt-get install chromium")


def axe_script() -> str:
    """The accessibility checks of axe-core."""
    return (
        AXE.read_text(encoding="utf-8") if AXE.exists() else _give_up("there is no axe-core; make .venv/axe/installed")
    )


def _give_up(reason: str) -> NoReturn:
    (pytest.fail if os.environ.get("UNIFIED_STATE_REQUIRE_CHROMIUM") == "1" else pytest.skip)(reason)
    raise AssertionError
