"""The table of all commands: group, name, module, help and example. Help, completion, reference and manual follow it.

An agent runs the command line often, so this module imports almost nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from unified_state.extension import parts
from unified_state.model.item import ITEM_KINDS

PROGRAM = "unified-state"
ABOUT = "The working memory of a coding agent that survives compaction."

# Each group has a title. A command has the module in `commands` that runs it, and its help.
EVERYDAY, RECORD, COMPACTION = "Everyday", "Record", "Compaction"
DATA, SET_UP, PLUMBING = "Data", "Set-up", "Plumbing"
Row = tuple[Any, str]
GROUPS: dict[str, dict[str, Row]] = {
    EVERYDAY: {
        "status": ("state", "what is recorded here, how old it is, how full the context is"),
        "search": ("lookup", "find turns, steps and items"),
        "show": ("lookup", "print an item, turn, step or compaction, or an item's source"),
        "history": ("past", "all that became of an item: when, by whom, in which turn"),
        "diff": ("past", "what was decided, answered, lifted or closed between two points"),
        "inbox": ("items", "what was captured or proposed, to accept or to reject"),
    },
    RECORD: {
        **{name: ("items", kind.about) for name, kind in ITEM_KINDS.items()},
        "work": ("state", "say what this session works on"),
        "edit": ("items", "change the text or a field of an item"),
        "drop": ("items", "drop an item; it is not restored any more, and `reopen` brings it back"),
        "close": ("items", "close an open question, evidence or an attempt"),
        "reopen": ("items", "reopen what was closed, lifted, dropped or rejected"),
        "undo": ("items", "take the last change back: what was added, edited, dropped, closed, lifted or decided"),
    },
    COMPACTION: {
        "context": ("compaction", "how full the context is, how it grew, and when the client will compact it"),
        "preview": ("compaction", "show what a session is given back after a compaction; changes nothing"),
        "save": ("state", "save the state with git as it stands now"),
        "compactions": ("compaction", "what the summaries of compactions kept of the state, and what was told again"),
    },
    DATA: {
        "import": ("transfer", "take in old sessions, and what other programs, machines or people kept"),
        "export": ("transfer", "print the archive as JSON Lines, one step (or item) a line"),
        "forget": ("remove", "remove for good: an item, a session, a text, or all old steps"),
        "scan": ("remove", "look for secrets in what is archived"),
        "vacuum": ("remove", "give the space of what was removed back to the disk"),
    },
    SET_UP: {
        "install": ("install", "put the hooks into the client's settings"),
        "uninstall": ("install", "take the hooks out again; what was recorded stays"),
        "doctor": ("doctor", "check hooks, archive, settings and space, or the recorded items"),
        "config": ("doctor", "show every setting, its value and where it comes from"),
        "link": ("doctor", "use the archive of another clone of this repository"),
        "completion": ("machine_commands", "print the completion script for a shell"),
        "demo": ("demo", "the main job end to end on a bundled session, offline"),
    },
    PLUMBING: {
        "age": ("state", "how long ago the state was saved, and which items still hold"),
        "load": ("state", "print the state for programs"),
        "validate": ("state", "check a state file against the schema and the archive"),
        "hook": ("hook_command", "handle one event of the client, its JSON on stdin"),
        "statusline": ("machine_commands", "print the status line, the client's JSON on stdin"),
        "mcp": ("machine_commands", "serve an agent's client by the model context protocol, on stdin and stdout"),
        "help": ("machine_commands", "explain a command; --all lists every command"),
        "version": ("machine_commands", "print the version"),
    },
}
COMMANDS = {name: row for rows in GROUPS.values() for name, row in rows.items()}

EXAMPLES = {
    "status": "unified-state status",
    "search": 'unified-state search "retry after" --since 3d',
    "show": "unified-state show D1 --source",
    "history": "unified-state history D7",
    "diff": "unified-state diff K2 HEAD",
    "decision add": 'unified-state decision add "Cap the backoff at 8 s" --rationale "the API asks"',
    "decision list": "unified-state decision list --all",
    "decision supersede": 'unified-state decision supersede D1 "No cap" --rationale "the provider has none now"',
    "constraint add": (
        'unified-state constraint add "Never touch migrations/" --source "the user" --scope "path:migrations/**"'
    ),
    "constraint list": "unified-state constraint list",
    "constraint lift": "unified-state constraint lift C1",
    "question add": 'unified-state question add "Which port?" --context "the firewall" --priority high',
    "question list": "unified-state question list --json",
    "question resolve": 'unified-state question resolve Q1 "Port 8080"',
    "evidence add": 'unified-state evidence add error "KeyError: id" --source "make test"',
    "evidence list": "unified-state evidence list",
    "attempt add": 'unified-state attempt add "A retry in the client" --outcome "the server counts it twice"',
    "attempt list": "unified-state attempt list",
    "work set": 'unified-state work set --id "#12" --title "Export" --progress 40%',
    "inbox": "unified-state inbox",
    "inbox accept": "unified-state inbox accept C4 C5",
    "edit": 'unified-state edit D1 "Cap the backoff at 9 s"',
    "drop": 'unified-state drop E1 --why "a typo"',
    "close": 'unified-state close Q1 "Port 8080"',
    "reopen": "unified-state reopen Q1",
    "undo": "unified-state undo",
    "context": "unified-state context --json",
    "preview": 'unified-state preview --prompt "Go on with the export"',
    "save": 'unified-state save --highlight "the tests are green"',
    "compactions": "unified-state compactions K2",
    "import": "unified-state import ~/.claude/projects",
    "export": "unified-state export --full history.jsonl",
    "forget": "unified-state forget --older-than 180d --dry-run",
    "scan": "unified-state scan --fix",
    "install": "unified-state install --status-line",
    "link": "unified-state link",
    "completion": "unified-state completion fish > ~/.config/fish/completions/unified-state.fish",
    "age": "unified-state age --max-age 60",
    "doctor": "unified-state doctor --items",
    "help": "unified-state help search",
}
# What the first page shows of them.
FIRST_EXAMPLES = ("search", "show", "decision add", "preview")


@cache
def all_groups(*, of_all: bool = True) -> dict[str, dict[str, Row]]:
    """Return the rows of the core, and those that extras add behind them; with `of_all` those of other packages too,
    which takes 30 ms. No extra replaces a command.
    """
    found = {title: dict(rows) for title, rows in GROUPS.items()}
    known = set(COMMANDS)
    for rows in parts("COMMANDS", of_all=of_all):
        for name, (title, module, about) in rows.items():
            if name not in known:
                found.setdefault(title, {})[name] = module, about
                known.add(name)
    return found


def all_commands() -> dict[str, Row]:
    """Return the rows of all groups."""
    return {name: row for rows in all_groups().values() for name, row in rows.items()}


def example_of(words: str) -> str | None:
    """Return the example of a command or a verb."""
    tables = [EXAMPLES] if words.split(maxsplit=1)[0] in COMMANDS else parts("EXAMPLES")
    return next((table[words] for table in tables if words in table), None)
