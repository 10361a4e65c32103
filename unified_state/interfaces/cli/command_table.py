"""The table of all commands: group, name, module, help and example. Help, completion, reference and manual follow it.

An agent runs the command line often, so this module imports almost nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from unified_state.extension import parts
from unified_state.model.item import CONSTRAINT, ITEM_KINDS

PROGRAM = "unified-state"
ABOUT = "The working memory of a coding agent that survives compaction."

# Each group has a title. A command has the module in `commands` that runs it, and its help.
EVERYDAY, RECORD, COMPACTION = "Everyday", "Record", "Compaction"
DATA, SET_UP, PLUMBING = "Data", "Set-up", "Plumbing"
Row = tuple[Any, str]
GROUPS: dict[str, dict[str, Row]] = {
    EVERYDAY: {
        "status": ("state", "what is recorded here, how old it is, how full the context is"),
        "log": ("lookup", "what was asked, by time, session and words"),
        "search": ("lookup", "find turns, steps and items"),
        "show": ("lookup", "print an item, turn, step or compaction, or an item's source"),
        "list": ("items", "list items of a kind, or print the whole state, now or as it was"),
        "history": ("past", "an item's history, or what changed since a point"),
        "inbox": ("items", "what was captured or proposed, to accept or to reject"),
    },
    RECORD: {
        "add": ("items", "record a decision, constraint, question, evidence, failed attempt, to-do or note"),
        "edit": ("items", "change the text or a field of an item"),
        "drop": ("items", "drop an item; it is not restored any more, and `undo` brings it back"),
        "resolve": ("items", "close a question, evidence or an attempt; lift a constraint, which only you can"),
        "undo": (
            "items",
            "take the last change back, or bring an item back that is over",
        ),
        "work": ("state", "say what this session works on"),
    },
    COMPACTION: {
        "preview": ("compaction", "show what a session is given back after a compaction; changes nothing"),
        "save": ("state", "save the state with git as it stands now"),
    },
    DATA: {
        "import": ("transfer", "take in old sessions, and what other programs, machines or people kept"),
        "export": ("transfer", "print the archive as JSON Lines, one step (or item) a line"),
        "forget": ("remove", "remove for good: an item, a session, a text, secrets, all old steps"),
    },
    SET_UP: {
        "install": ("install", "put the hooks into the client's settings"),
        "uninstall": ("install", "take the hooks out again; what was recorded stays"),
        "doctor": ("doctor", "check hooks, archive, settings and space, or the recorded items"),
        "config": ("doctor", "show every setting, its value and where it comes from, or choose the archive"),
        "demo": ("demo", "the main job end to end on a bundled session, offline"),
    },
    PLUMBING: {
        "age": ("state", "how long ago the state was saved, and which items still hold"),
        "validate": ("state", "check a state file against the schema and the archive"),
        "hook": ("hook_command", "handle one event of the client, its JSON on stdin"),
        "mcp": ("hook_command", "serve an agent's client by the model context protocol, on stdin and stdout"),
    },
}
COMMANDS = {name: row for rows in GROUPS.values() for name, row in rows.items()}

# What people call a kind of items, or what is listed like one. `decision add` is `add decision`.
NOUNS = {
    **{plural: kind for kind in ITEM_KINDS for plural in (kind, f"{kind}s")},
    **dict.fromkeys(("rule", "rules", "remember"), CONSTRAINT),
    **dict.fromkeys(("todo", "todos", "action", "actions"), "todo"),
    **dict.fromkeys(("note", "notes", "highlights"), "note"),
    **dict.fromkeys(("compaction", "compactions"), "compaction"),
}
ADDING = ("remember", "rule", "todo", "note")  # what stands behind these is a text, if it is no verb
VERBS = ("add", "list", "show", "history", "edit", "drop", "resolve", "undo", "supersede", "search", "inbox", "forget")
# What people call a command that has another name here.
ALIASES = {
    "close": "resolve",
    "completion": "--completion",
    "context": "status --context",
    "diff": "history",
    "done": "resolve",
    "find": "search",
    "get": "show",
    "init": "install",
    "last": "log",
    "lift": "resolve",
    "link": "config link",
    "load": "list",
    "ls": "list",
    "recall": "show",
    "remove": "drop",
    "reopen": "undo",
    "restore": "preview",
    "rm": "drop",
    "scan": "forget --secrets --dry-run",
    "sessions": "log --sessions",
    "setup": "install",
    "statusline": "status --line",
    "sync": "server sync",
    "today": "log today",
    "update": "edit",
    "vacuum": "forget --vacuum",
    "version": "--version",
    "why": "show --source",
    "yesterday": "log yesterday",
}

EXAMPLES = {
    "status": "unified-state status --context",
    "log": "unified-state log yesterday",
    "search": 'unified-state search "retry after" --since 3d',
    "show": "unified-state show D1 --source",
    "list": "unified-state list decision --all",
    "history": "unified-state history D7",
    "inbox": "unified-state inbox",
    "inbox accept": "unified-state inbox accept C4 C5",
    "add decision": 'unified-state add decision "Cap the backoff at 8 s" --reason "the API asks"',
    "add constraint": 'unified-state add constraint "Never touch migrations/" --scope "path:migrations/**"',
    "add question": 'unified-state add question "Which port?" --priority high',
    "add evidence": 'unified-state add evidence "KeyError: id" --type error --source "make test"',
    "add attempt": 'unified-state add attempt "A retry in the client" --reason "the server counts it twice"',
    "add todo": 'unified-state add todo "Write the conflict test"',
    "edit": 'unified-state edit D1 "Cap the backoff at 9 s"',
    "drop": 'unified-state drop E1 --reason "a typo"',
    "resolve": 'unified-state resolve Q1 "Port 8080"',
    "undo": "unified-state undo",
    "work set": 'unified-state work set --id "#12" --title "Export" --progress 40%',
    "preview": 'unified-state preview --prompt "Go on with the export"',
    "save": 'unified-state save --highlight "the tests are green"',
    "import": "unified-state import ~/.claude/projects",
    "export": "unified-state export --full history.jsonl",
    "forget": "unified-state forget --older-than 180d --dry-run",
    "install": "unified-state install --status-line",
    "config link": "unified-state config link",
    "age": "unified-state age --max-age 60",
    "doctor": "unified-state doctor --items",
}
# What the first page shows of them.
FIRST_EXAMPLES = ("search", "show", "add decision", "preview")


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
