"""The hooks as a client's settings hold them: which events, which handlers, how long.

The interpreter is called isolated (`-I -S`): nothing in the project can change what it imports. It is called with
`-c`, since Python's own exit status for a missing script is 2, and to the client that means: block the user's prompt.
"""

from __future__ import annotations

import sys

from unified_state.assets import PACKAGE_ROOT
from unified_state.records.restore import PARTS
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    HookGroups = dict[str, list[dict[str, Any]]]

HOOK_MODULE = "unified_state.interfaces.hook"
# A hook ends before a collection of garbage could pay for itself: without any, a prompt waits 5 % less.
BEGIN = "import gc,sys;gc.set_threshold(100000);"
_RUN = f"from {HOOK_MODULE} import main;main()"
# Seconds, the client's unit. A hook ends itself long before; the client's limit is for a machine that stands still.
TIMEOUTS = {
    "SessionStart": 15,
    "UserPromptSubmit": 10,
    "Stop": 30,
    "SubagentStop": 30,
    "PreCompact": 120,
    "PostCompact": 15,
    "SessionEnd": 5,
}


def hook_groups(data_dir: str, interpreter: str = sys.executable, root: str = PACKAGE_ROOT) -> HookGroups:
    """The entries by event that `install` adds, for the package that lies in the folder `root`."""
    code = f"{BEGIN}sys.path.append({root!r});{_RUN}"
    return _groups(interpreter, [code], None if data_dir == default_data_dir() else data_dir)


def plugin_hooks() -> dict[str, Any]:
    """The hooks of a checkout that the client loads as a plugin: the file `hooks/hooks.json`."""
    code = f"{BEGIN}sys.path.append(sys.argv.pop(1));{_RUN}"
    return {
        "description": "The working memory of a coding agent that survives compaction",
        "hooks": _groups("python3", [code, "${CLAUDE_PLUGIN_ROOT}"], None),
    }


def is_our_handler(handler: Any) -> bool:
    """Whether a handler in a client's settings is ours, of whatever version."""
    arguments = handler.get("args") if isinstance(handler, dict) else None
    return isinstance(arguments, list) and any(HOOK_MODULE in str(argument) for argument in arguments)


def _groups(interpreter: str, code: list[str], data_dir: str | None) -> HookGroups:
    """SessionStart has two handlers: the client limits the output of each."""
    elsewhere = [] if data_dir is None else [data_dir]

    def handler(event: str, part: str) -> dict[str, Any]:
        return {
            "type": "command",
            "command": interpreter,
            "args": ["-I", "-S", "-c", *code, event, *([part] if part or elsewhere else []), *elsewhere],
            "timeout": TIMEOUTS[event],
        }

    return {
        event: [{"hooks": [handler(event, part) for part in (PARTS if event == "SessionStart" else ("",))]}]
        for event in TIMEOUTS
    }
