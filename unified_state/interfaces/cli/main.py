"""The command `unified-state`: select the subcommand, parse its arguments, run it, and turn errors into exit codes.

Agents run it often, so it imports only what a subcommand needs and builds only its parser. Exit codes: 0 for success, 1
for a found problem or an expected error (one line: problem, place, remedy), 2 for a usage error, 3 for a bug, 130 for
^C.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from unified_state.errors import UnifiedStateError
from unified_state.interfaces.cli.command_table import (
    ABOUT,
    EVERYDAY,
    EXAMPLES,
    FIRST_EXAMPLES,
    PLUMBING,
    PROGRAM,
    all_groups,
)
from unified_state.lib.fence import visible
from unified_state.lib.package import USE_ANOTHER, __version__, lacks_sqlite
from unified_state.lib.shell.search_path import absolute_folders
from unified_state.settings import environment, set_variable

if TYPE_CHECKING:
    from unified_state.interfaces.cli.command_context import Context

_ALLOCATIONS = 100_000  # between garbage collections; most commands end before one pays off
_NARROW, _WIDTH = 80, 11  # columns of a narrow terminal, and of a name
_MORE = (
    f"`{PROGRAM} help COMMAND` explains one, `{PROGRAM} help --all` lists all.",
    "What reads takes --json.",
)
BUG, INTERRUPTED, BROKEN_PIPE = 3, 130, 141


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit the process with its exit code."""
    gc.set_threshold(_ALLOCATIONS)
    set_variable("PATH", absolute_folders(environment()))  # no library searches for a program anywhere else
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # escape characters that the terminal lacks
    try:
        if arguments and arguments[0] in {"help", "-h", "--help"}:
            arguments = [*arguments[1:], "--help"] if arguments[1:] != ["--all"] else ["help", "--all"]
        if not arguments or arguments[0] in {"help", "--help"}:
            return _print_first_page(with_state=not arguments, lists_all="--all" in arguments)
        from unified_state.interfaces.cli.argument_parser import parse

        parsed = parse(arguments)
        return int(parsed.run(parsed))
    except UnifiedStateError as error:
        from unified_state.secrets.rules.mask import hide_secrets  # a message may quote a foreign file

        sys.stderr.write(f"{PROGRAM}: {visible(hide_secrets(str(error)))}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`| head`). Redirect stdout so that the interpreter's last flush does not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001  # the command line's edge: a bug becomes a report and exit 3
        if lacks_sqlite(error):
            sys.exit(USE_ANOTHER)
        from unified_state.upkeep.doctor.bug_report import report_bug

        sys.stderr.write(f"{PROGRAM}: {report_bug(error, arguments)}\n")
        return BUG


def _print_first_page(*, with_state: bool, lists_all: bool) -> int:
    """Print what a person reads who types `unified-state` alone, or the list of all commands. Return the exit code.

    `with_state` adds what is recorded in this project.
    """
    from unified_state.interfaces.cli.command_context import Context

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
    from textwrap import wrap

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


if __name__ == "__main__":
    main()
