"""`view`: see sessions, compactions and the state: in a browser, or in one file."""

from __future__ import annotations

import sys
from argparse import Namespace
from secrets import token_urlsafe

from unified_state.errors import MissingExtraError, UsageError
from unified_state.extras.viewer.open_projects import Project, open_projects
from unified_state.interfaces.cli.command_context import Command, Context, argument, flag, option
from unified_state.ledger.gate import may_confirm
from unified_state.lib.files import write_atomically
from unified_state.lib.package import extra_line
from unified_state.lib.times import current_time
from unified_state.model.refs import COMPACTION, parse_ref
from unified_state.search.recall_ref import recall

_MOST_PORT = 65_535
_STATE = "state"


def _view(context: Context, arguments: Namespace) -> None:
    workspace = context.reading()
    try:
        projects = open_projects(workspace, f"/{token_urlsafe(32)}", every=arguments.all_projects)
        show = _export if arguments.export else _serve
        show(context, arguments, projects)
    except ImportError as error:
        message = f"{sys.executable} has not all packages of the viewer ({error.name} is missing)"
        raise MissingExtraError(message, extra_line("viewer")) from error


def _serve(context: Context, arguments: Namespace, projects: dict[str, Project]) -> None:
    from unified_state.extras.viewer.serve_viewer import serve_viewer

    workspace = projects[""].workspace
    may_change = workspace is not None and may_confirm(workspace.origin)
    if not may_change:
        context.say("these pages change nothing: this is no terminal of the user's own")

    def say(address: str) -> None:
        context.write(f"{address}\nCtrl-C ends it, and so does an hour without use")
        sys.stdout.flush()

    serve_viewer(
        projects,
        port=arguments.port,
        may_change=may_change,
        opens_browser=not arguments.no_browser,
        say=say,
        path=_path(projects[""], arguments.what),
    )


def _path(project: Project, what: str) -> str:
    """Return the path of the page that the argument names. Raises NotFoundError and UsageError."""
    from unified_state.extras.viewer.export_page import session_called

    if not what or what == _STATE:
        return f"/{what}"
    try:
        if parse_ref(what)[0] == COMPACTION:
            project.read(lambda archive: recall(archive, what))
    except UsageError:
        return f"/session/{project.read(lambda archive: session_called(archive, what, current_time()))}"
    return f"/{what}"


def _export(context: Context, arguments: Namespace, projects: dict[str, Project]) -> None:
    from unified_state.extras.viewer.export_page import export_page

    project = projects[""]
    page = project.read(lambda archive: export_page(archive, project, arguments.what, current_time()))
    content = page.encode("utf-8", "replace")
    write_atomically(arguments.export, content)
    context.say(f"{arguments.export} has {len(content) / 1e6:.2f} MB")


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= _MOST_PORT:
        raise ValueError(text)
    return number


_port.__name__ = "port"

COMMANDS = {
    "view": Command(
        _view,
        argument(
            "what",
            nargs="?",
            default="",
            metavar="WHAT",
            help="a session, an item, turn, step or compaction (K2), or `state`; default: the list of sessions",
        ),
        option("--export FILE", "write one page as a file instead; default: the newest session"),
        option("--port N", "default: a free one", type=_port, default=0),
        flag("--all-projects", "your other projects, too"),
        flag("--no-browser", "only print the address"),
        has_json=False,
    ),
}
