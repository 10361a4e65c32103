"""The first page, which a person reads who types `unified-state` alone.

It has the commands by group, examples, and what is recorded in this project.
"""

from __future__ import annotations

import sys
from textwrap import wrap

from unified_state.errors import UnifiedStateError
from unified_state.interfaces.cli.command_context import Context
from unified_state.interfaces.cli.command_table import (
    ABOUT,
    EVERYDAY,
    EXAMPLES,
    FIRST_EXAMPLES,
    PLUMBING,
    PROGRAM,
    all_groups,
)
from unified_state.lib.package import __version__

_NARROW, _WIDTH = 80, 11  # columns of a narrow terminal, and of a name
_MORE = (
    f"`{PROGRAM} help COMMAND` explains one, `{PROGRAM} help --all` lists all.",
    "What reads takes --json.",
)


def print_first_page(*, with_state: bool, lists_all: bool) -> int:
    """Print the page, or the list of all commands, and return the exit code. `with_state` adds what is recorded in this
    project.
    """
    context = Context(as_json=False)
    if lists_all:
        groups = ("\n".join([title, *_described(rows)]) for title, rows in all_groups().items())
        context.show(None, "\n\n".join(groups), style="lists")
        return 0
    state = ["", "This project", *(f"  {line}" for line in _state(context))] if with_state else []
    context.show(None, "\n".join([*_page(), *state, "", *_MORE]), style="lists")
    sys.stdout.flush()
    return 0


def _page() -> list[str]:
    lines = [f"{PROGRAM} {__version__}", ABOUT]
    for title, rows in all_groups(of_all=False).items():
        if title == EVERYDAY:
            lines += ["", title, *_described(rows)]
        elif title != PLUMBING:
            lines += ["", title, *wrap("  ".join(rows), _NARROW, initial_indent="  ", subsequent_indent="  ")]
    return [*lines, "", "Examples", *(f"  {EXAMPLES[name]}" for name in FIRST_EXAMPLES)]


def _described(rows: dict[str, tuple[str, str]]) -> list[str]:
    return [f"  {name:<{_WIDTH}}  {about}" for name, (_, about) in rows.items()]


def _state(context: Context) -> list[str]:
    """Return what is recorded here in a few lines. The page is printed even if the archive cannot be read."""
    from unified_state.interfaces.cli.commands.state import short_status

    try:
        return short_status(context)
    except UnifiedStateError as error:
        return [str(error)]
