"""`statusline`: what the installed status line runs, by hand or from a script of the user's own."""

from __future__ import annotations

from unified_state.interfaces.statusline import run
from unified_state.settings import environment, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add no arguments."""
    parser.set_defaults(run=_status_line)


def _status_line(_arguments: Namespace) -> int:
    run(load_settings(None, environment()).data_dir)
    return 0
