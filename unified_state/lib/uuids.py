"""UUIDs of items."""

from __future__ import annotations

import os


def new_uuid(now: int) -> str:
    """Return a UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random bits, so that UUIDs sort by age."""
    digits = (now.to_bytes(6, "big") + os.urandom(10)).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
