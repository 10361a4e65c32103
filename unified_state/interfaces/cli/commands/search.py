"""`search`: in the archive of this repository, of all, or in the history of the whole team."""

from __future__ import annotations

from unified_state.errors import MissingExtraError, NewerVersionError, NotFoundError, SettingError, StorageError
from unified_state.interfaces.cli.arguments import count
from unified_state.interfaces.cli.command_context import Context
from unified_state.lib.times import current_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from unified_state.model.step import Hit
    from unified_state.search.find import Wanted
    from unified_state.team.search_team import TeamHit

    Found = tuple[list[str], list[dict[str, Any]]]


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words to look for")
    parser.add_argument("--limit", type=count, default=10, metavar="N", help="at most so many hits (10; 1,000)")
    parser.add_argument("--session", metavar="ID", help="only this session")
    parser.add_argument("--since", metavar="TIME", help="only later ones: 2026-03-14, 3d, yesterday")
    parser.add_argument("--tool", metavar="NAME", help="only calls of this tool and their results")
    parser.add_argument("--file", metavar="PATH", help="only what names this file")
    parser.add_argument("--kind", metavar="KIND", help="only prompt, text, tool_call, decision …")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--all-projects", action="store_true", help="in the archives of all repositories")
    where.add_argument("--team", action="store_true", help="also what others of the team archived, on the server")
    parser.set_defaults(run=_search)


def _search(arguments: Namespace) -> int:
    from unified_state.search.find import Wanted

    context = Context(as_json=arguments.json)
    wanted = Wanted(
        query=" ".join(arguments.query),
        limit=arguments.limit,
        session_id=arguments.session,
        since=arguments.since,
        tool=arguments.tool,
        file=arguments.file,
        kind=arguments.kind,
    )
    look = _everywhere if arguments.all_projects else _in_team if arguments.team else _here
    lines, shown = look(context, wanted)
    context.show(shown, "\n".join(lines))
    if not lines:
        context.say(f"nothing is found for {wanted.query[:80]!r}")
    return 0


def _here(context: Context, wanted: Wanted) -> Found:
    from unified_state.search.find import find

    hits = find(context.reading(), wanted, current_time())
    return list(map(_line, hits)), [hit.as_dict() for hit in hits]


def _everywhere(context: Context, wanted: Wanted) -> Found:
    from unified_state.search.find import find_everywhere

    found = find_everywhere(context.workspace(create=False), wanted, current_time())
    places = {one.archive: one.worktree or one.archive for one in found}
    lines = [
        line
        for archive, place in places.items()
        for line in (place, *(_line(one.hit) for one in found if one.archive == archive))
    ]
    return lines, [{"archive": one.archive, "worktree": one.worktree, **one.hit.as_dict()} for one in found]


def _in_team(context: Context, wanted: Wanted) -> Found:
    """One's own hits, and those of others; where the server cannot tell, one line says why."""
    from unified_state.settings import environment
    from unified_state.team.search_team import find_in_team
    from unified_state.team.team_server import team_server

    workspace = context.workspace(create=False)
    try:
        lines, shown = _here(context, wanted)
    except NotFoundError:  # the session is somebody else's, or nothing is archived here yet
        lines, shown = [], []
    try:
        theirs = find_in_team(workspace, team_server(workspace, environment()), wanted, current_time())
    except (MissingExtraError, NewerVersionError, SettingError, StorageError) as error:
        context.say(str(error))
        theirs = []
    return [*lines, *map(_team_line, theirs)], [*shown, *(hit.as_dict() for hit in theirs)]


def _line(hit: Hit) -> str:
    status = f"  ({hit.status})" if hit.status not in {None, "active"} else ""
    return f"{hit.ref:>7}  {hit.timestamp[:16]}  {hit.kind:<11}  {hit.snippet}{status}"


def _team_line(hit: TeamHit) -> str:
    return f"{hit.said_by or 'another':>7}  {hit.timestamp[:16]}  {hit.kind:<11}  {hit.snippet}"
