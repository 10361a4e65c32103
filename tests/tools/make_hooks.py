"""Write `hooks/hooks.json`, the hooks of a checkout that is loaded as a plugin, from the table that `install` uses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from unified_state.hosts.install.hook_table import plugin_hooks

PATH = Path(__file__).parent.parent.parent / "hooks" / "hooks.json"


def hooks_text() -> str:
    """The file as it is checked in."""
    return json.dumps(plugin_hooks(), indent=2) + "\n"


def main() -> None:
    """Write the file."""
    PATH.write_text(hooks_text(), encoding="utf-8")
    sys.stdout.write(f"{PATH}\n")


if __name__ == "__main__":
    main()
