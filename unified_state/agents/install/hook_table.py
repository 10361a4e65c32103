"""The hooks as a client's settings hold them: which events, which handlers, how long.

The interpreter is called isolated (`-I -S`): nothing in the project can change what it imports. It is called with
`-c`, since Python's own exit status for a missing script is 2, and to the client that means: block the user's prompt.
"""

from __future__ import annotations

from unified_state.agents.install.hook_interpreter import hook_interpreter
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.model.hook_event import PARTS
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    HookGroups = dict[str, list[dict[str, Any]]]

HOOK_MODULE = "unified_state.interfaces.hook"
TOOL_HOOK_MODULE = f"{HOOK_MODULE}_tool_use"
OUTPUT_HOOK_MODULE = f"{HOOK_MODULE}_tool_output"
OUTPUT_EVENT = "PostToolUse"
LONG_OUTPUTS = "Bash|Grep|Glob|WebFetch|Agent|Task|mcp__.*"  # of others nothing is ever shortened
# A hook ends before a collection of garbage could pay for itself: without any, a prompt waits 5 % less.
BEGIN = "import gc,sys;gc.set_threshold(100000);"
_ISOLATED = ("-I", "-S", "-c")
_FIND = f"{BEGIN}sys.path.append("
# Seconds, the client's unit. A hook ends itself long before; the client's limit is for a machine that stands still.
TIMEOUTS = {
    "SessionStart": 15,
    "UserPromptSubmit": 10,
    "Stop": 30,
    "SubagentStart": 10,
    "SubagentStop": 30,
    "PreCompact": 120,
    "PostCompact": 15,
    "SessionEnd": 5,
}
TOOL_TIMEOUT = 10


def hook_groups(data_dir: str, interpreter: str | None = None, root: str = PACKAGE_ROOT) -> HookGroups:
    """The entries by event that `install` adds, for the package that lies in the folder `root`."""
    groups = [_code(root, HOOK_MODULE)]
    return _groups(interpreter or hook_interpreter(), groups, None if data_dir == default_data_dir() else data_dir)


def tool_hook_group(data_dir: str, interpreter: str | None = None, root: str = PACKAGE_ROOT) -> dict[str, Any]:
    """The entry before tool calls, which is there only while a constraint is enforced."""
    return _light_group(TOOL_HOOK_MODULE, [], data_dir, interpreter, root)


def output_hook_group(
    level: str, data_dir: str, interpreter: str | None = None, root: str = PACKAGE_ROOT
) -> dict[str, Any]:
    """The entry behind tool calls, which is there only where long outputs are shortened."""
    return {"matcher": LONG_OUTPUTS, **_light_group(OUTPUT_HOOK_MODULE, [level], data_dir, interpreter, root)}


def plugin_hooks() -> dict[str, Any]:
    """The hooks of the plugin: the file `hooks/hooks.json`. The shell that the client starts for each reads a small
    file of the plugin and becomes the interpreter of the installed program.
    """
    groups = _groups("", [], None)
    for handler in (handler for entries in groups.values() for group in entries for handler in group["hooks"]):
        words = handler.pop("args")[len(_ISOLATED) :]
        handler["command"] = f'set -- {" ".join(words)}; . "${{CLAUDE_PLUGIN_ROOT}}/hooks/start.sh"'
    return {"description": "The working memory of a coding agent that survives compaction", "hooks": groups}


def is_our_handler(handler: Any) -> bool:
    """Whether a handler in a client's settings is ours, of whatever version."""
    arguments = handler.get("args") if isinstance(handler, dict) else None
    return isinstance(arguments, list) and any(HOOK_MODULE in str(argument) for argument in arguments)


def our_handlers(settings: Any, event: str | None = None) -> list[dict[str, Any]]:
    """The handlers in a client's settings that are ours, of all events or of one."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    groups = [
        group
        for name, entries in (hooks.items() if isinstance(hooks, dict) else ())
        if event in (None, name) and isinstance(entries, list)
        for group in entries
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
    ]
    return [handler for group in groups for handler in group["hooks"] if is_our_handler(handler)]


def lean_level(settings: Any) -> str | None:
    """The level at which these settings have long outputs shortened; None where they do not."""
    found = [handler["args"] for handler in our_handlers(settings, OUTPUT_EVENT) if is_output_handler(handler)]
    return next(
        (str(arguments[len(_ISOLATED) + 1]) for arguments in found if len(arguments) > len(_ISOLATED) + 1), None
    )


def is_tool_handler(handler: Any) -> bool:
    """Whether a handler of ours is the one before tool calls, which stands in a worktree's settings by itself."""
    return any(TOOL_HOOK_MODULE in str(argument) for argument in handler.get("args", ()))


def is_output_handler(handler: Any) -> bool:
    """Whether a handler of ours is the one behind tool calls, which is there only with lean context."""
    return any(OUTPUT_HOOK_MODULE in str(argument) for argument in handler.get("args", ()))


def called_root(handler: Any) -> str | None:
    """The folder of the package that a handler of ours calls; None where it is not as `install` writes it."""
    from ast import literal_eval  # slow to load

    arguments = handler["args"]
    code = str(arguments[len(_ISOLATED)]) if len(arguments) > len(_ISOLATED) else ""
    try:
        root = str(literal_eval(code.removeprefix(_FIND).partition(");from ")[0]))
    except (ValueError, SyntaxError):
        return None
    written = [[*_ISOLATED, _code(root, module)] for module in (HOOK_MODULE, TOOL_HOOK_MODULE, OUTPUT_HOOK_MODULE)]
    return root if arguments[: len(_ISOLATED) + 1] in written else None


def archives_in(handler: Any) -> str:
    """The data folder that a handler of ours was installed with."""
    arguments = handler["args"][len(_ISOLATED) + 1 :]  # behind the code: the event, the part, the folder
    before = 0 if is_tool_handler(handler) else 1 if is_output_handler(handler) else 2
    folder = arguments[before:]
    return str(folder[0]) if folder else default_data_dir()


def _code(root: str, module: str) -> str:
    return f"{_FIND}{root!r});from {module} import main;main()"


def _light_group(module: str, words: list[str], data_dir: str, interpreter: str | None, root: str) -> dict[str, Any]:
    """A hook with a process of its own that loads hardly anything."""
    arguments = [*_ISOLATED, _code(root, module), *words, *([] if data_dir == default_data_dir() else [data_dir])]
    command = interpreter or hook_interpreter()
    return {"hooks": [{"type": "command", "command": command, "args": arguments, "timeout": TOOL_TIMEOUT}]}


def _groups(interpreter: str, code: list[str], data_dir: str | None) -> HookGroups:
    """SessionStart has two handlers: the client limits the output of each."""
    elsewhere = [] if data_dir is None else [data_dir]

    def handler(event: str, part: str) -> dict[str, Any]:
        return {
            "type": "command",
            "command": interpreter,
            "args": [*_ISOLATED, *code, event, *([part] if part or elsewhere else []), *elsewhere],
            "timeout": TIMEOUTS[event],
        }

    return {
        event: [{"hooks": [handler(event, part) for part in (PARTS if event == "SessionStart" else ("",))]}]
        for event in TIMEOUTS
    }
