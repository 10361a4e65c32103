"""The hosts other than Claude Code that call our hooks. Each is one row of data.

Five of them adopted Claude Code's contract, others only its idea. A row states only what was observed in a run of the
version that it names, or what the host's documentation says.
"""

from __future__ import annotations

from collections.abc import Mapping

from unified_state.lib.record import Record
from unified_state.model.hook_event import HOST_MARK

# Format of the context that a hook adds.
NESTED, FLAT, SNAKE_CASE, FLAT_AND_NESTED = "nested", "flat", "snake case", "flat and nested"
# Layout of a handler in the host's file: in groups as in Claude Code, as an entry of a list, or in a plugin program.
GROUPS, SHELL_LINES, COMMANDS, PLUGIN = "groups", "shell lines", "commands", "plugin"


_CLAUDES = {name: name for name in ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")}
_AFTER_TOOLS = {**_CLAUDES, "PostToolUse": "UserPromptSubmit"}  # the next chance after a compaction
_PROMPTS = ("SessionStart", "UserPromptSubmit")


class Host(Record):
    """One host. `user_file` lies in the home; "" is the name of `project_file`. `events` maps each of its events that
    we handle to our event name. `timeout_unit` is the number of its timeout units in a second. `context_events` are the
    events whose hooks may add context. `characters` is the limit of one output. `says_compact` means that the host
    starts a session again after a compaction. Without it, the lost context is restored with the next of its context
    events. `transcript` names the transcript reader. It is None if only the data of hook events is archived. `tried` is
    the version that was tested, or empty if the row relies on documentation. `own_file` means that the file contains
    only our entries. `options` are further fields that a handler needs. `next_step` is what users have to know or do
    after the installation. `shell_variable` is set in the environment of the agent's commands, and `session_variable`
    holds the session id there. Both are empty if unknown.
    """

    name: str
    title: str
    project_file: str
    user_file: str = ""
    events: dict[str, str] = _CLAUDES
    context_events: tuple[str, ...] = _PROMPTS
    tried: str = ""
    layout: str = GROUPS
    emitter: str = NESTED
    timeout_unit: int = 1
    characters: int = 9_900
    says_compact: bool = False
    transcript: str | None = None
    own_file: bool = False
    user_folder_variable: str = ""
    options: dict[str, int] = {}  # noqa: RUF012  # records never change
    shell_variable: str = ""
    session_variable: str = ""
    next_step: str = ""

    def session_id(self, given: str) -> str:
        """Return the stored id of this host's session. The prefix is needed because ids of different hosts may be
        equal.
        """
        return f"{self.name}{HOST_MARK}{given}" if given else ""


# The project file of VS Code is in a folder that Copilot CLI reads too, so one file serves both.
_COPILOT = Host(
    name="copilot",
    title="GitHub Copilot CLI",
    project_file=".github/hooks/unified-state.json",
    user_file=".copilot/hooks/unified-state.json",
    events=_AFTER_TOOLS,
    context_events=("SessionStart", "PostToolUse"),
    layout=SHELL_LINES,
    emitter=FLAT_AND_NESTED,
    own_file=True,
    shell_variable="COPILOT_CLI",
)
_HOSTS = (
    Host(
        name="codex",
        title="Codex",
        tried="0.169.0",
        project_file=".codex/hooks.json",
        user_folder_variable="CODEX_HOME",
        says_compact=True,
        transcript="codex",
        # In tokens. Of more than 2,500 the host shows the model both ends only.
        options={"additionalContextLimit": 10_000},
        shell_variable="CODEX_THREAD_ID",
        session_variable="CODEX_THREAD_ID",
        next_step="Codex runs new hooks only once you trust them: it asks when it starts, and `/hooks` shows them",
    ),
    Host(
        name="gemini",
        title="Gemini CLI",
        tried="0.61.0",
        project_file=".gemini/settings.json",
        # The host sends PreCompress before every request, even if nothing is compressed.
        events={
            "SessionStart": "SessionStart",
            "BeforeAgent": "UserPromptSubmit",
            "AfterAgent": "Stop",
            "SessionEnd": "SessionEnd",
        },
        context_events=("SessionStart", "BeforeAgent"),
        timeout_unit=1000,
        transcript="gemini",
        shell_variable="GEMINI_CLI",
        next_step="Gemini CLI warns once of new hooks in a project, and runs none in folders that you do not trust",
    ),
    Host(
        name="opencode",
        title="opencode",
        tried="1.18.33",
        project_file=".opencode/plugins/unified-state.js",
        user_file=".config/opencode/plugins/unified-state.js",
        context_events=(*_PROMPTS, "PreCompact"),
        layout=PLUGIN,
        emitter=FLAT,
        timeout_unit=1000,
        says_compact=True,
        transcript="opencode",
        own_file=True,
        shell_variable="OPENCODE",
    ),
    Host(
        name="qwen",
        title="Qwen Code",
        project_file=".qwen/settings.json",
        timeout_unit=1000,
        says_compact=True,
        shell_variable="QWEN_CODE",
    ),
    Host(
        name="droid",
        title="Factory Droid",
        project_file=".factory/settings.json",
        says_compact=True,
    ),
    _COPILOT,
    _COPILOT.replace(name="vscode", title="VS Code", shell_variable=""),
    Host(
        name="cursor",
        title="Cursor",
        project_file=".cursor/hooks.json",
        events={
            "sessionStart": "SessionStart",
            "beforeSubmitPrompt": "UserPromptSubmit",
            "postToolUse": "UserPromptSubmit",
            "preCompact": "PreCompact",
            "stop": "Stop",
            "sessionEnd": "SessionEnd",
        },
        context_events=("sessionStart", "postToolUse"),
        layout=COMMANDS,
        emitter=SNAKE_CASE,
        shell_variable="CURSOR_AGENT",
    ),
)
HOSTS = {host.name: host for host in _HOSTS}
# Environment variables of an agent's commands, Claude Code's first. A person's terminal has none of them.
SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", *(host.session_variable for host in _HOSTS if host.session_variable))
AGENT_VARIABLES = ("CLAUDECODE", *dict.fromkeys(host.shell_variable for host in _HOSTS if host.shell_variable))


def host_of(session_id: str) -> Host | None:
    """Return the host of a session, or None for Claude Code."""
    name, mark, _ = session_id.partition(HOST_MARK)
    return HOSTS.get(name) if mark else None


def title_of_host(session_id: str) -> str:
    """Return the name of a session's host for people."""
    host = host_of(session_id)
    return host.title if host else "another agent" if HOST_MARK in session_id else "Claude Code"


def session_in(environ: Mapping[str, str]) -> str | None:
    """Return the session whose agent started a command with this environment, or None if no variable names one."""
    told = (host.session_id(environ.get(host.session_variable, "")) for host in _HOSTS)
    return environ.get("CLAUDE_CODE_SESSION_ID") or next(filter(None, told), None)


def is_agents(environ: Mapping[str, str]) -> bool:
    """Return whether an environment belongs to an agent's command, because it names an agent or an agent's session."""
    return any(map(environ.get, AGENT_VARIABLES)) or session_in(environ) is not None
