"""AgentMemory adds the hooks and tools of the memory to an SDK agent's options.

Invariant: an event is handled once. If the options load settings or plugins that run the hooks as commands, AgentMemory
adds no hooks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from unified_state.errors import MissingExtraError, UnifiedStateError, UsageError
from unified_state.extras.agent_sdk.sdk_hooks import EVENTS, Hooks
from unified_state.hosts.install.claude_settings import PLUGIN, enables, parsed_settings
from unified_state.hosts.install.hook_table import OUTPUT_EVENT, handles
from unified_state.hosts.install.install_claude_code import SCOPES, target
from unified_state.hosts.install.settings_edit import read_settings
from unified_state.lib.package import extra_line
from unified_state.model.hook_event import LEAN_LEVELS, TIMEOUTS
from unified_state.project.place import locate
from unified_state.settings import environment, load_settings
from unified_state.state_file.manager import UnifiedStateManager

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions


class AgentMemory:
    """The memory of an agent that the Claude Agent SDK runs: `options` are the given ones with our hooks and tools.

    >>> memory = AgentMemory(ClaudeAgentOptions(cwd="my-project"))
    >>> async with memory, ClaudeSDKClient(memory.options) as client:
    ...     await client.query("Go on with the parser.")

    Every session that is begun with these options is archived and given its memory back as in a terminal. Where the
    hooks are installed in settings that the options load, those run, and none are added.
    """

    options: ClaudeAgentOptions

    def __init__(self, options: ClaudeAgentOptions | None = None, *, lean: str | None = None) -> None:
        """Take the options of your agent, whose `cwd` selects the project. They are not changed.

        `lean` shortens long tool outputs as `install --lean LEVEL` does: "gentle", "middle" or "tight".
        """
        if lean not in {None, *LEAN_LEVELS}:
            message = f"lean is {str(lean)[:60]!r}"
            raise UsageError(message, f"levels are {', '.join(LEAN_LEVELS)}")
        try:
            from claude_agent_sdk import ClaudeAgentOptions, McpSdkServerConfig

            from unified_state.interfaces.mcp.mcp_server import NAME, Server
            from unified_state.interfaces.mcp.server_project import Project
        except ImportError as error:
            message = "the Claude Agent SDK is not installed"
            raise MissingExtraError(message, extra_line("agent-sdk")) from error
        given = options or ClaudeAgentOptions()
        self._folder = os.path.abspath(given.cwd or os.getcwd())
        environ = {**environment(), **given.env}
        data_dir = load_settings(None, environ).data_dir
        worktree = locate(self._folder, data_dir, create=False).repository.worktree
        theirs = run_as_commands((*EVENTS, OUTPUT_EVENT), given, dict.fromkeys((worktree, self._folder)), environ)
        self._hooks = Hooks(self._folder, environ, data_dir, _source(given))
        server = Server(Project(self._folder, self._hooks.session_id)).lowlevel
        self.options = replace(
            given,
            hooks=_joined(given.hooks, self._hooks.matchers(theirs, f"mcp__{NAME}__.*", lean)),
            mcp_servers={**_servers(given), NAME: McpSdkServerConfig(type="sdk", name=NAME, instance=server)},
            allowed_tools=[*given.allowed_tools, f"mcp__{NAME}"],
        )

    def manager(self, session_id: str | None = None) -> UnifiedStateManager:
        """Return the manager of the agent's project, which records and reads; `session_id` is the SDK's."""
        return UnifiedStateManager(self._folder, session_id)

    def end(self) -> None:
        """Archive the rest and record the end of the sessions. Call it after their clients have ended.

        `with` and `async with` call it at the end of their block.
        """
        self._hooks.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        from anyio import to_thread

        await to_thread.run_sync(self.end)


def _source(options: ClaudeAgentOptions) -> str:
    if options.fork_session:
        return "fork"
    return "resume" if options.resume or options.continue_conversation else "startup"


def _joined(theirs: Mapping[Any, list[Any]] | None, ours: Mapping[Any, list[Any]]) -> dict[Any, list[Any]]:
    theirs = theirs or {}
    return {event: [*theirs.get(event, []), *ours.get(event, [])] for event in {**theirs, **ours}}


def _servers(options: ClaudeAgentOptions) -> dict[str, Any]:
    if isinstance(options.mcp_servers, dict):
        return options.mcp_servers
    message = f"mcp_servers is {str(options.mcp_servers)[:60]!r}"
    raise UsageError(message, "give the servers as a dict, so that the memory's own can be added")


def run_as_commands(
    events: Iterable[str], options: ClaudeAgentOptions, folders: Iterable[str], environ: Mapping[str, str]
) -> set[str]:
    """Return the events that installed hooks or the plugin handle; `folders` may hold the project's settings."""
    loaded = list(_loaded(options, list(folders), environ))
    has_plugin = any(map(_has_plugin, loaded))
    return {
        event
        for event in events
        if (has_plugin and event in TIMEOUTS) or any(handles(settings, event) for settings in loaded)
    }


def _loaded(options: ClaudeAgentOptions, folders: list[str], environ: Mapping[str, str]) -> Iterator[Any]:
    """Yield the settings, and the descriptions of plugins, that the client loads with these options."""
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
            continue  # the client reports it better


def _has_plugin(settings: Any) -> bool:
    """Return whether settings enable our plugin, or are its description."""
    return isinstance(settings, dict) and (settings.get("name") == PLUGIN or bool(enables(settings)))
