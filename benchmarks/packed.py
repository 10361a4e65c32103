"""A file of JSON that a user names, packed (.xz) or not."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any


def read_json(path: Path) -> Any:
    """What the file holds."""
    data = path.read_bytes()
    return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
