"""A team's history on a PostgreSQL server: outbox, sync, team search."""

from __future__ import annotations

_VERBS = f"{__name__}.server_command:COMMANDS"
COMMANDS = {
    "server": (
        "Set-up",
        _VERBS,
        "bring a team's server up to date, set it up, admit members",
    ),
}
EXAMPLES = {
    "server init": "unified-state server init --dsn postgresql://postgres@history.example/unified_state",
    "server admit": "unified-state server admit ada --organisation acme",
    "server remove": "unified-state server remove ada --organisation acme",
    "server members": "unified-state server members --organisation acme",
    "server move": "unified-state server move github.com/acme/app github.com/acme/shop",
    "server delete-project": "unified-state server delete-project github.com/acme/app",
    "server check": "unified-state server check",
    "server sync": "unified-state server sync --on",
}
CHECKS, STATUS_OF_TEAM = f"{__name__}.check_team:checks", f"{__name__}.server_states:status"
START_SYNC = f"{__name__}.start_sync:start_sync"
TEAM_SERVER, IS_TEAM_REF = f"{__name__}.team_server:team_server", f"{__name__}.team_ref:is_team_ref"
FIND_IN_TEAM = f"{__name__}.search_team:find_in_team"
RECALL_OF_TEAM = f"{__name__}.recall_team:recall_of_team"
EXPLAIN_OF_TEAM = f"{__name__}.recall_team:explain_of_team"
PAGES = {
    "run-a-team-server.md": "Run a team's server",
    "keep-a-server-up-to-date.md": "Keep a server up to date, and search the team's history",
    "history-on-a-server.md": "How history is kept on a server",
}
