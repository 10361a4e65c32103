"""What we made in folders that are not ours, so that it goes when we do: files that were not there before, and the
folders that held nothing else.
"""

from __future__ import annotations

import os

from unified_state.lib.files import write_atomically
from unified_state.lib.stdlib import dump_ascii_json, parse_json

_LIST = "created-settings.json"


def created_by_us(data_dir: str) -> list[str]:
    """The settings files that did not exist before we installed into them."""
    try:
        with open(os.path.join(data_dir, _LIST), encoding="utf-8") as file:
            return list(parse_json(file.read()))
    except (OSError, ValueError, TypeError):
        return []  # with a list that is gone or damaged no file is taken for ours


def note_created(data_dir: str, path: str) -> None:
    """Remember that a settings file is one of them."""
    os.makedirs(data_dir, mode=0o700, exist_ok=True)
    write_atomically(os.path.join(data_dir, _LIST), dump_ascii_json(sorted({*created_by_us(data_dir), path})).encode())
