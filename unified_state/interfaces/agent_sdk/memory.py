"""AgentMemory: an SDK agent's options with the memory in them.

Invariant: an event is handled once. Where the client loads settings that run the hooks as commands, they are left to
it.
"""

from __future__ import annotations

import os
from dataclasses import replace

from unified_state.errors import UnifiedStateError, UsageError
from unified_state.interfaces.agent_sdk.hooks import Hooks
from unified_state.interpreter import parse_json
from unified_state.services.installation import SCOPES, our_handlers, read_settings, target
from unified_state.services.manager import UnifiedStateManager
from unified_state.services.place import locate
from unified_state.settings import environment, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Any, Self

    from claude_agent_sdk import ClaudeAgentOptions


class AgentMemory:
    """The memory of an agent that the Claude Agent SDK runs: `options` are the given ones with our hooks and tools.

    >>> with AgentMemory(ClaudeAgentOptions(cwd="my-project")) as memory:
    ...     async with ClaudeSDKClient(memory.options) as client:
    ...         await client.query("Go on with the parser.")

    Every session that is begun with these options is archived and given its memory back as in a terminal. Where the
    hooks are installed in settings that the options load, those run, and none are added.
    """

    options: ClaudeAgentOptions

    def __init__(self, options: ClaudeAgentOptions | None = None) -> None:
        """`options` are those of your agent; its `cwd` says which project. They are not changed."""
        given = options or _default_options()
        self._folder = os.path.abspath(given.cwd or os.getcwd())
        environ = {**environment(), **given.env}
        self._hooks: Hooks | None = None
        self.options = given
        if not _are_hooks_loaded(given, self._folder, environ):
            self._hooks = Hooks(environ, load_settings(None, environ).data_dir, _source(given))
            self.options = replace(given, hooks=_joined(given.hooks, self._hooks.matchers()))

    def manager(self, session_id: str | None = None) -> UnifiedStateManager:
        """What records and reads the state of the agent's project; `session_id` is the SDK's."""
        return UnifiedStateManager(self._folder, session_id)

    def end(self) -> None:
        """Archive what is left and note that the sessions ended, once their clients are gone."""
        if self._hooks is not None:
            self._hooks.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.end()


def _default_options() -> ClaudeAgentOptions:
    try:
        from claude_agent_sdk import ClaudeAgentOptions
    except ImportError as error:
        message = "the Claude Agent SDK is not installed"
        raise UsageError(message, "pip install 'unified-state[agent-sdk]'") from error
    return ClaudeAgentOptions()


def _source(options: ClaudeAgentOptions) -> str:
    if options.fork_session:
        return "fork"
    return "resume" if options.resume or options.continue_conversation else "startup"


def _joined(theirs: Mapping[Any, list[Any]] | None, ours: Mapping[Any, list[Any]]) -> dict[Any, list[Any]]:
    theirs = theirs or {}
    return {event: [*theirs.get(event, []), *ours.get(event, [])] for event in {**theirs, **ours}}


def _are_hooks_loaded(options: ClaudeAgentOptions, folder: str, environ: Mapping[str, str]) -> bool:
    """Whether the client finds our hooks as commands in what these options let it load."""
    return any(our_handlers(settings) or _has_plugin(settings) for settings in _loaded(options, folder, environ))


def _loaded(options: ClaudeAgentOptions, folder: str, environ: Mapping[str, str]) -> Iterator[Any]:
    scopes = SCOPES if options.setting_sources is None else options.setting_sources
    data_dir = load_settings(None, environ).data_dir
    worktree = locate(folder, data_dir, create=False).repository.worktree
    paths = [
        target(scope, root, environ).settings_path for scope in scopes for root in dict.fromkeys((worktree, folder))
    ]
    paths += [os.path.join(plugin["path"], "hooks", "hooks.json") for plugin in options.plugins]
    given = (options.settings or "").strip()
    if given.startswith("{"):
        yield _parsed(given)
    elif given:
        paths.append(os.path.join(folder, given))
    for path in paths:
        try:
            yield read_settings(path)
        except UnifiedStateError:
            continue  # the client says so better than we


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return None


def _has_plugin(settings: Any) -> bool:
    """Whether settings switch our plugin on."""
    plugins = settings.get("enabledPlugins") if isinstance(settings, dict) else None
    return isinstance(plugins, dict) and any(
        on and str(name).split("@")[0] == "unified-state" for name, on in plugins.items()
    )
