"""`mcp`: the server that an agent's client starts; it needs the extra of the same name."""

from __future__ import annotations

import sys

from unified_state.errors import MissingExtraError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add no arguments."""
    parser.set_defaults(run=_serve)


def _serve(_arguments: Namespace) -> int:
    try:
        import mcp.server.mcpserver  # noqa: F401  # older ones have no such module
    except ImportError as error:
        message = f"{sys.executable} has no package `mcp` of version 2 or later"
        raise MissingExtraError(message, f"{sys.executable} -m pip install 'mcp>=2,<3'") from error
    from unified_state.interfaces.mcp.serve_stdio import serve

    return serve()
