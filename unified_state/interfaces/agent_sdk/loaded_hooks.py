"""Which hooks the client runs as commands, by the settings and plugins that an agent's options let it load."""

from __future__ import annotations

import os

from unified_state.agents.install.claude_settings import parsed_settings
from unified_state.agents.install.find_plugin import PLUGIN, enables
from unified_state.agents.install.hook_table import TIMEOUTS, our_handlers
from unified_state.agents.install.install_claude_code import SCOPES, read_settings, target
from unified_state.errors import UnifiedStateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from claude_agent_sdk import ClaudeAgentOptions


def run_as_commands(
    events: Iterable[str], options: ClaudeAgentOptions, folders: Iterable[str], environ: Mapping[str, str]
) -> set[str]:
    """Those of the events that our installed hooks, or our plugin, handle. `folders` are where the project's settings
    may lie.
    """
    loaded = list(_loaded(options, list(folders), environ))
    return {event for event in events if _is_run(event, loaded)}


def _is_run(event: str, loaded: list[Any]) -> bool:
    """Whether the client finds our hook of an event as a command, in one of the settings that it loads."""
    return any(our_handlers(settings, event) or (event in TIMEOUTS and _has_plugin(settings)) for settings in loaded)


def _loaded(options: ClaudeAgentOptions, folders: list[str], environ: Mapping[str, str]) -> Iterator[Any]:
    """The settings, and the descriptions of plugins, that the client loads with these options."""
    scopes = SCOPES if options.setting_sources is None else options.setting_sources
    paths = [target(scope, folder, environ).settings_path for scope in scopes for folder in folders]
    paths += [os.path.join(plugin["path"], ".claude-plugin", "plugin.json") for plugin in options.plugins]
    given = (options.settings or "").strip()
    if given.startswith("{"):
        yield parsed_settings(given)
    elif given:
        paths.append(os.path.join(options.cwd or "", given))
    for path in dict.fromkeys(paths):
        try:
            yield read_settings(path)
        except UnifiedStateError:
            continue  # the client says so better than we


def _has_plugin(settings: Any) -> bool:
    """Whether settings switch our plugin on, or are its description."""
    return isinstance(settings, dict) and (settings.get("name") == PLUGIN or bool(enables(settings)))
