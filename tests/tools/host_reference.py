"""The reference of other agents, from the table of hosts."""

from __future__ import annotations

from tests.tools.command_reference import table
from unified_state.hosts.transcripts.rules.claude_kinds import ATTACHMENTS, ENTRIES, EVENTS, SYSTEM
from unified_state.hosts.transcripts.rules.hosts import HOSTS, Host
from unified_state.model.constraint import SKILL_EVENT
from unified_state.model.hook_event import CALLS_EVENT, TIMEOUTS

_AT_TIMES = {
    **dict.fromkeys(("PreToolUse", SKILL_EVENT), "used while a constraint is enforced"),
    "PostToolUse": "used where long outputs are shortened",
    CALLS_EVENT: "used after `install --tool-calls`",
}
_FIVE = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")


def hosts() -> str:
    """Both tables: the files with our hooks, and the events of each host."""
    files = [
        (
            f"`{host.name}`",
            host.title,
            f"**run**, {host.tried}" if host.tried else "from documents",
            f"`{host.project_file}`",
            f"`{_user_file(host)}`",
        )
        for host in HOSTS.values()
    ]
    contracts = [
        (
            host.title,
            _events(host),
            ", ".join(f"`{event}`" for event in host.context_events),
            _after(host),
            "everything" if host.transcript else "prompts and last answers",
        )
        for host in HOSTS.values()
    ]
    return "\n\n".join(
        (
            table(("`--host`", "agent", "checked by", "file in the project", "your own file (`--scope user`)"), files),
            table(
                (
                    "agent",
                    "events",
                    "events that may add context",
                    "end of a compaction is known by",
                    "archived",
                ),
                contracts,
            ),
        )
    )


def _user_file(host: Host) -> str:
    name = host.user_file or host.project_file
    if not host.user_folder_variable:
        return f"~/{name}"
    return f"~/{name}` or `${host.user_folder_variable}/{name.rpartition('/')[2]}"


def _events(host: Host) -> str:
    """The events that our hooks handle; the five that the page names are not repeated."""
    pairs = {**host.events}
    common = all(pairs.get(name) == name for name in _FIVE)
    rest = ", ".join(_event(pair) for pair in pairs.items() if not (common and pair[0] in _FIVE))
    return ", ".join(filter(None, ("the five" if common else "", rest)))


def _event(names: tuple[str, str]) -> str:
    theirs, ours = names
    return f"`{theirs}`" if theirs == ours else f"`{theirs}` (as {ours})"


def _after(host: Host) -> str:
    """The sign by which a hook recognises the end of a compaction."""
    if host.says_compact:
        return "a SessionStart with the source `compact`"
    return "the transcript, at the next prompt" if host.transcript else "the next event that may add context"


def clients() -> str:
    """What becomes of each kind of entry and attachment of Claude Code, and of each of its events."""
    events = {name: _AT_TIMES.get(name, "used" if name in TIMEOUTS else "not used") for name in EVENTS}
    parts = {"entries": ENTRIES, "`system` entries": SYSTEM, "attachments": ATTACHMENTS, "hook events": events}
    return "\n\n".join(table((title, "what becomes of them"), _by_use(uses)) for title, uses in parts.items())


def _by_use(uses: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (", ".join(f"`{name}`" for name, one in sorted(uses.items()) if one == use), use)
        for use in dict.fromkeys(uses.values())
    ]
