"""The clock of the services that are called by programs; hooks read theirs when they start."""

from __future__ import annotations

import time


def current_time() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)
