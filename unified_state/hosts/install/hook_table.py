"""The entries of our hooks in a client's settings: events, handlers, timeouts and the program that runs them.

A handler calls the launcher (`hook_launcher.py`), or else the interpreter itself. The interpreter runs isolated (`-I
-S`), so nothing in the project changes its imports. The long form calls it with `-c` because Python exits with status 2
if a script is missing, and the client blocks the user's prompt on status 2. If a launcher is missing, nothing starts.
With the long form, which Windows has, every hook starts Python, and a turn waits for its end.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.model.constraint import ALL_TOOLS, TOOL_EVENT
from unified_state.model.hook_event import HOOK_WORDS, PARTS, TIMEOUTS, TOOL_TIMEOUT
from unified_state.settings import default_data_dir

HookGroups = dict[str, list[dict[str, Any]]]

HOOK_MODULE = "unified_state.interfaces.hook"
TOOL_HOOK_MODULE = f"{HOOK_MODULE}_tool_use"
OUTPUT_HOOK_MODULE = f"{HOOK_MODULE}_tool_output"
_MODULES = (HOOK_MODULE, TOOL_HOOK_MODULE, OUTPUT_HOOK_MODULE)
LAUNCHER = "unified-state-hook"
QUOTE = "'\\''"  # as the shell has it between quotes
# The launcher's first argument, where that is no event.
WORDS = {f"unified_state.interfaces.{module}": word for word, module in HOOK_WORDS.items()}
MARKS = (HOOK_MODULE, LAUNCHER)  # a settings file with a hook of ours has one of them
OUTPUT_EVENT = "PostToolUse"
LONG_OUTPUTS = "Bash|Grep|Glob|WebFetch|Agent|Task|mcp__.*"  # outputs of other tools are never shortened
# Garbage collection never pays off in a hook, which ends first. A prompt is 5 % faster without it.
BEGIN = "import gc,sys;gc.set_threshold(100000);"
_ISOLATED = ("-I", "-S", "-c")
_FIND = f"{BEGIN}sys.path.append("


def hook_groups(data_dir: str, launcher: str = "") -> HookGroups:
    """Return the entries by event that `install` adds. `launcher` is the program that
    they call, or "" for the interpreter.

    SessionStart has two handlers because the client limits the output of each one.
    """
    parts = {event: PARTS if event == "SessionStart" else ("",) for event in TIMEOUTS}
    command = _hook_words(HOOK_MODULE, launcher)

    def handler(event: str, part: str) -> dict[str, Any]:
        return _handler(command, [event, part], data_dir, TIMEOUTS[event], f"{event} {part}".rstrip())

    return {event: [{"hooks": [handler(event, part) for part in parts[event]]}] for event in TIMEOUTS}


def tool_hook_group(data_dir: str, launcher: str = "", matcher: str = ALL_TOOLS) -> dict[str, Any]:
    """Return the entry of the hook before tool calls. It is installed only while a constraint is enforced, or a fact is
    to be told before the calls of some tools.
    """
    hooks = [_tool_handler(TOOL_HOOK_MODULE, [], data_dir, launcher)]
    return {"matcher": matcher, "hooks": hooks} if matcher else {"hooks": hooks}


def output_hook_group(level: str, data_dir: str, launcher: str = "") -> dict[str, Any]:
    """Return the entry of the hook after tool calls. It is installed only if long outputs are shortened."""
    return {"matcher": LONG_OUTPUTS, "hooks": [_tool_handler(OUTPUT_HOOK_MODULE, [level], data_dir, launcher)]}


def _tool_handler(module: str, words: list[str], data_dir: str, launcher: str) -> dict[str, Any]:
    """Return the handler of a hook before or after tool calls."""
    return _handler(_hook_words(module, launcher), words, data_dir, TOOL_TIMEOUT, WORDS[module])


def plugin_hooks() -> dict[str, Any]:
    """Return the content of the plugin's `hooks/hooks.json`.

    The client starts a shell for each hook. The shell reads a small file of the plugin and then executes the
    interpreter of the installed program.
    """
    groups = hook_groups(default_data_dir())
    for handler in (handler for entries in groups.values() for group in entries for handler in group["hooks"]):
        words = _own_words(handler)
        del handler["args"]
        handler["command"] = f'set -- {" ".join(words)}; . "${{CLAUDE_PLUGIN_ROOT}}/hooks/start.sh"'
    return {"description": "The working memory of a coding agent that survives compaction", "hooks": groups}


def _handler(command: list[str], words: list[str], data_dir: str, timeout: int, name: str) -> dict[str, Any]:
    """Return a handler that runs a command of ours with these arguments, without empty ones at the end.

    The client lists it by this name, because it cuts commands after some 60 characters, before the event.
    """
    words = [*words, "" if data_dir == default_data_dir() else data_dir]
    while words and not words[-1]:
        words.pop()
    program, *arguments = command
    return {
        "type": "command",
        "command": program,
        "args": [*arguments, *words],
        "timeout": timeout,
        "statusMessage": f"unified-state: {name}",
    }


def _hook_words(module: str, launcher: str) -> list[str]:
    """Return the command line of a hook: the launcher with the module's word, or the interpreter."""
    if not launcher:
        return command_words(module)
    return [launcher, WORDS[module]] if module in WORDS else [launcher]


def command_words(module: str) -> list[str]:
    """Return the command line that calls one of our modules by the interpreter."""
    return [sys.executable, *_ISOLATED, _code(PACKAGE_ROOT, module)]


def _code(root: str, module: str) -> str:
    return f"{_FIND}{root!r});from {module} import main;main()"


def is_our_handler(handler: Any, module: str = HOOK_MODULE) -> bool:
    """Return whether a handler in a client's settings calls the given module of ours, in any version.

    The default is a prefix of the names of all our hook modules, so it matches each of them.
    """
    arguments = handler.get("args") if isinstance(handler, dict) else None
    if not isinstance(arguments, list):
        return False
    if is_launched(handler):
        return module == HOOK_MODULE or arguments[:1] == [WORDS[module]]
    return any(module in str(argument) for argument in arguments)


def is_launched(handler: dict[str, Any]) -> bool:
    """Return whether a handler calls the launcher."""
    return str(handler.get("command")).replace("\\", "/").rpartition("/")[2] == LAUNCHER


def _own_words(handler: dict[str, Any]) -> list[Any]:
    """Return the arguments of our handler that are the hook's own: the event, the part, the level, the folder."""
    arguments: list[Any] = handler["args"]
    if not is_launched(handler):
        return arguments[len(_ISOLATED) + 1 :]
    return arguments[1:] if arguments[:1] and arguments[0] in WORDS.values() else arguments


def starts(handler: dict[str, Any]) -> bool:
    """Return whether the program of our handler exists, and the interpreter that a launcher names."""
    command = str(handler.get("command"))
    if "\0" in command or not os.access(command, os.X_OK):
        return False
    interpreter = launched(command)[0] if is_launched(handler) else ""  # none: an installer's script, for one
    return not interpreter or os.access(interpreter, os.X_OK)


def launched(path: str) -> tuple[str, str]:
    """Return the interpreter and the package folder that a launcher names, each "" if it names none."""
    try:
        text = os.fsdecode(read_regular(path, SMALL_FILE))
    except OSError:
        return "", ""
    python, root = (text.partition(f"\n{name}='")[2].partition("'\n")[0] for name in ("python", "root"))
    return ("", "") if "\0" in python + root else (python.replace(QUOTE, "'"), root.replace(QUOTE, "'"))


def our_handlers(settings: Any, event: str | None = None) -> list[dict[str, Any]]:
    """Return our handlers in a client's settings, for one event or for all."""
    entries = [entry for entry in _entries(settings, event) if isinstance(entry, dict)]
    lists = [entry["hooks"] for entry in entries if isinstance(entry.get("hooks"), list)]
    return [handler for handlers in lists for handler in handlers if is_our_handler(handler)]


def _entries(settings: Any, event: str | None) -> list[Any]:
    """Return the entries of hooks in a client's settings, for one event or for all."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    named = hooks.items() if isinstance(hooks, dict) else ()
    lists = [entries for name, entries in named if event in (None, name) and isinstance(entries, list)]
    return [entry for entries in lists for entry in entries]


def handles(settings: Any, event: str) -> bool:
    """Return whether our handlers in a client's settings do our work at an event: one before some tools alone enforces
    nothing.
    """
    return tool_matcher(settings) == ALL_TOOLS if event == TOOL_EVENT else bool(our_handlers(settings, event))


def lean_level(settings: Any) -> str | None:
    """Return the level at which these settings shorten long outputs, or None if they do not."""
    handlers = [handler for handler in our_handlers(settings, OUTPUT_EVENT) if is_output_handler(handler)]
    return next((str(words[0]) for handler in handlers if (words := _own_words(handler))), None)


def is_tool_handler(handler: Any) -> bool:
    """Return whether a handler of ours is the hook before tool calls."""
    return is_our_handler(handler, TOOL_HOOK_MODULE)


def calls(group: Any, module: str) -> bool:
    """Return whether an entry of a client's settings has a handler that calls the given module of ours."""
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(handlers, list) and any(is_our_handler(one, module) for one in handlers)


def tool_matcher(settings: Any) -> str | None:
    """Return the matcher of the tools before which these settings call our hook, or None if they do not."""
    found = [entry for entry in _entries(settings, TOOL_EVENT) if calls(entry, TOOL_HOOK_MODULE)]
    return min((str(entry.get("matcher") or ALL_TOOLS) for entry in found), default=None)


def is_output_handler(handler: Any) -> bool:
    """Return whether a handler of ours is the hook after tool calls."""
    return is_our_handler(handler, OUTPUT_HOOK_MODULE)


def called_root(handler: Any) -> str | None:
    """Return the package folder that our handler calls by the interpreter, or None if the handler is not in the form
    that `install` writes.
    """
    from ast import literal_eval  # slow to load

    arguments = handler["args"]
    code = str(arguments[len(_ISOLATED)]) if len(arguments) > len(_ISOLATED) else ""
    try:
        root = str(literal_eval(code.removeprefix(_FIND).partition(");from ")[0]))
    except (ValueError, SyntaxError):
        return None
    written = [[*_ISOLATED, _code(root, module)] for module in _MODULES]
    return root if arguments[: len(_ISOLATED) + 1] in written else None


def archives_in(handler: Any) -> str:
    """Return the data folder that our handler was installed with."""
    words = _own_words(handler)  # the event and the part, or the level, then the folder
    folder = words[0 if is_tool_handler(handler) else 1 if is_output_handler(handler) else 2 :]
    return str(folder[0]) if folder else default_data_dir()
