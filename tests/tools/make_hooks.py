"""Write `hooks/hooks.json`, the hooks of a checkout that is loaded as a plugin, from the table that `install` uses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from unified_state.hosts.install.hook_table import LAUNCHER, hook_groups
from unified_state.settings import default_data_dir

PATH = Path(__file__).parent.parent.parent / "hooks" / "hooks.json"


def plugin_hooks() -> dict[str, Any]:
    """Return the content of the plugin's `hooks/hooks.json`.

    The client starts a shell for each hook. The shell reads a small file of the plugin and then executes the
    interpreter of the installed program.
    """
    groups = hook_groups(default_data_dir(), LAUNCHER)
    for handler in (handler for entries in groups.values() for group in entries for handler in group["hooks"]):
        words = handler.pop("args")
        handler["command"] = f'set -- {" ".join(words)}; . "${{CLAUDE_PLUGIN_ROOT}}/hooks/start.sh"'
    return {"description": "The working memory of a coding agent that survives compaction", "hooks": groups}


def hooks_text() -> str:
    """The file as it is checked in."""
    return json.dumps(plugin_hooks(), indent=2) + "\n"


def main() -> None:
    """Write the file."""
    PATH.write_text(hooks_text(), encoding="utf-8")
    sys.stdout.write(f"{PATH}\n")


if __name__ == "__main__":
    main()
