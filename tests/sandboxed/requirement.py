"""What to do where a client or its sandbox cannot be had: the tests skip and say why; with
UNIFIED_STATE_REQUIRE_REAL_CLIENT=1, as in continuous integration, that is a failure.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def give_up(reason: str) -> NoReturn:
    """Skip, or fail."""
    if os.environ.get("UNIFIED_STATE_REQUIRE_REAL_CLIENT") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
