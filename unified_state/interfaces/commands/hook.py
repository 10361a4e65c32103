"""`hook EVENT`: what the installed hooks run, by hand."""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.interfaces.hook import EVENTS, run
from unified_state.records.restore import PARTS
from unified_state.settings import environment, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("event", metavar="EVENT", help=", ".join(EVENTS))
    parser.add_argument("part", nargs="?", default="", metavar="PART", help=f"of SessionStart: {' or '.join(PARTS)}")
    parser.set_defaults(run=_hook)


def _hook(arguments: Namespace) -> int:
    if arguments.part and arguments.part not in PARTS:
        message = f"there is no part {arguments.part!r}"
        raise UsageError(message, f"SessionStart has {' and '.join(PARTS)}")
    return run(arguments.event, arguments.part, load_settings(None, environment()).data_dir)
