"""The entries of our hooks in a client's settings: events, handlers, timeouts and the launcher that runs them.

A handler calls the launcher (`hook_launcher.py`) with the event, or with a word of `HOOK_WORDS`. If the launcher is
missing, nothing starts, and the client goes on.
"""

from __future__ import annotations

import os
from typing import Any

from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.model.constraint import ALL_TOOLS, SKILL_EVENT, TOOL_EVENT
from unified_state.model.hook_event import CALLS_EVENT, CHECK_WORD, PARTS, SHORTEN_WORD, TIMEOUTS, TOOL_TIMEOUT
from unified_state.settings import default_data_dir

HookGroups = dict[str, list[dict[str, Any]]]

LAUNCHER = "unified-state-hook"
QUOTE = "'\\''"  # as the shell has it between quotes
OUTPUT_EVENT = "PostToolUse"
LONG_OUTPUTS = "Bash|Grep|Glob|WebFetch|Agent|Task|mcp__.*"  # outputs of other tools are never shortened


def hook_groups(data_dir: str, launcher: str) -> HookGroups:
    """Return the entries by event that `install` adds. They call the program `launcher`.

    SessionStart has two handlers because the client limits the output of each one.
    """
    parts = {event: PARTS if event == "SessionStart" else ("",) for event in TIMEOUTS}

    def handler(event: str, part: str) -> dict[str, Any]:
        return _handler(launcher, [event, part], data_dir, TIMEOUTS[event], f"{event} {part}".rstrip())

    return {event: [{"hooks": [handler(event, part) for part in parts[event]]}] for event in TIMEOUTS}


def tool_hook_group(data_dir: str, launcher: str, matcher: str = ALL_TOOLS) -> dict[str, Any]:
    """Return the entry of the hook before tool calls. It is installed only while a constraint is enforced, or a fact is
    to be told before the calls of some tools.
    """
    hooks = [_handler(launcher, [CHECK_WORD], data_dir, TOOL_TIMEOUT, CHECK_WORD)]
    return {"matcher": matcher, "hooks": hooks} if matcher else {"hooks": hooks}


def tool_hook_events(matcher: str) -> tuple[str, ...]:
    """Return the events at which the hook before tool calls is called. A skill's own commands are no tool calls."""
    return (TOOL_EVENT, SKILL_EVENT) if matcher == ALL_TOOLS else (TOOL_EVENT,)


def output_hook_group(level: str, data_dir: str, launcher: str) -> dict[str, Any]:
    """Return the entry of the hook after tool calls. It is installed only if long outputs are shortened."""
    hooks = [_handler(launcher, [SHORTEN_WORD, level], data_dir, TOOL_TIMEOUT, SHORTEN_WORD)]
    return {"matcher": LONG_OUTPUTS, "hooks": hooks}


def calls_hook_group(data_dir: str, launcher: str) -> dict[str, Any]:
    """Return the entry of the hook that archives tool calls where the client writes no transcript."""
    return {"hooks": [_handler(launcher, [CALLS_EVENT, ""], data_dir, TOOL_TIMEOUT, CALLS_EVENT)]}


def _handler(launcher: str, words: list[str], data_dir: str, timeout: int, name: str) -> dict[str, Any]:
    """Return a handler that calls the launcher with these arguments, without empty ones at the end.

    The client lists it by this name, because it cuts commands after some 60 characters, before the event.
    """
    words = [*words, "" if data_dir == default_data_dir() else data_dir]
    while words and not words[-1]:
        words.pop()
    return {
        "type": "command",
        "command": launcher,
        "args": words,
        "timeout": timeout,
        "statusMessage": f"unified-state: {name}",
    }


def is_our_handler(handler: Any, word: str = "") -> bool:
    """Return whether a handler in a client's settings calls our launcher, with a word of `HOOK_WORDS` if one is
    given.
    """
    arguments = handler.get("args") if isinstance(handler, dict) else None
    if not isinstance(arguments, list) or not is_launcher(str(handler.get("command"))):
        return False
    return not word or arguments[:1] == [word]


def is_launcher(command: str) -> bool:
    """Return whether a program is our launcher, by its name."""
    return command.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") == LAUNCHER


def starts(handler: dict[str, Any]) -> bool:
    """Return whether the launcher that our handler calls exists, and the interpreter that it names."""
    command = str(handler.get("command"))
    if "\0" in command or not os.access(command, os.X_OK):
        return False
    interpreter = launched(command)[0]  # none: an installer's script, for one
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
    return [one for entry in _entries(settings, event) for one in _handlers(entry) if is_our_handler(one)]


def _handlers(entry: dict[str, Any]) -> list[Any]:
    handlers = entry.get("hooks")
    return handlers if isinstance(handlers, list) else []


def _entries(settings: Any, event: str | None) -> list[dict[str, Any]]:
    """Return the entries of hooks in a client's settings, for one event or for all."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    named = hooks.items() if isinstance(hooks, dict) else ()
    lists = [entries for name, entries in named if event in (None, name) and isinstance(entries, list)]
    return [entry for entries in lists for entry in entries if isinstance(entry, dict)]


def handles(settings: Any, event: str) -> bool:
    """Return whether our handlers in a client's settings do our work at an event: one before some tools alone enforces
    nothing.
    """
    return tool_matcher(settings) == ALL_TOOLS if event == TOOL_EVENT else bool(our_handlers(settings, event))


def lean_level(settings: Any) -> str | None:
    """Return the level at which these settings shorten long outputs, or None if they do not."""
    handlers = filter(is_output_handler, our_handlers(settings, OUTPUT_EVENT))
    return next((str(handler["args"][1]) for handler in handlers if handler["args"][1:]), None)


def is_tool_handler(handler: Any) -> bool:
    """Return whether a handler of ours is the hook before tool calls."""
    return is_our_handler(handler, CHECK_WORD)


def tool_matcher(settings: Any) -> str | None:
    """Return the matcher of the tools before which these settings call our hook, or None if they do not."""
    found = [entry for entry in _entries(settings, TOOL_EVENT) if any(map(is_tool_handler, _handlers(entry)))]
    return min((str(entry.get("matcher") or ALL_TOOLS) for entry in found), default=None)


def is_output_handler(handler: Any) -> bool:
    """Return whether a handler of ours is the hook after tool calls."""
    return is_our_handler(handler, SHORTEN_WORD)


def archives_in(handler: Any) -> str:
    """Return the data folder that our handler was installed with: the only argument that is a path."""
    return next(filter(os.path.isabs, map(str, handler["args"])), default_data_dir())
