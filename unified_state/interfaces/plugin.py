"""The hooks as the plugin runs them: `EVENT [PART]`, the client's JSON on stdin, exit 0.

The plugin's files and the program that they find have separate versions. So `main` keeps its name and its arguments,
and an event that only a newer plugin knows is ignored.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from unified_state.hosts.install.claude_settings import settings_run
from unified_state.interfaces.tool_hook import limit_time
from unified_state.lib.package import USE_ANOTHER, lacks_sqlite
from unified_state.settings import environment, load_settings


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook of the process's arguments, and exit the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    limit_time(arguments[0] if arguments else "")
    os._exit(run(*arguments))


def run(event: str = "", part: str = "", *_: str) -> int:
    """Handle one event, unless the client's settings run our hook for it. Return the exit status."""
    environ = environment()
    if settings_run(event, environ.get("CLAUDE_PROJECT_DIR", "."), environ):
        return 0
    try:
        from unified_state.interfaces.hook import EVENTS
        from unified_state.interfaces.hook import run as run_hook
    except ImportError as error:
        if lacks_sqlite(error):
            sys.exit(USE_ANOTHER)
        raise
    if event not in EVENTS:
        return 0
    return run_hook(event, part, load_settings(None, {}).data_dir)
