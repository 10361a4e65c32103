"""`doctor`, `config`, `link`: whether all is well, what is set, and which archive is used."""

from __future__ import annotations

from unified_state.interfaces.cli.command_context import Context
from unified_state.lib.times import current_time
from unified_state.memory.workspace.link import candidates, has_id, link
from unified_state.setting_table import SETTINGS
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(name: str, parser: ArgumentParser) -> None:
    """Add the arguments of one of the commands."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    if name == "link":
        parser.add_argument("id", nargs="?", metavar="ID", help="the archive to join; without it they are listed")
    parser.set_defaults(run={"doctor": _doctor, "config": _config, "link": _link}[name])


def _doctor(arguments: Namespace) -> int:
    from unified_state.upkeep.doctor.diagnose import diagnose

    context = Context(as_json=arguments.json)
    place, settings = context.here(create=False)
    checks = diagnose(place, settings, environment(), current_time())
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        hint = "" if check.ok or not check.hint else f" -> {check.hint}"
        lines.append(f"{'ok ' if check.ok else 'BAD'} {check.name:{width}}  {check.message}{hint}")
    context.show([check.as_dict() for check in checks], "\n".join(lines))
    return 0 if all(check.ok for check in checks) else 1


def _config(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json)
    _, settings = context.here(create=False)
    rows = [
        {
            "name": setting.name,
            "value": setting.shown(getattr(settings, setting.name)),
            "unit": setting.unit,
            "origin": settings.origin[setting.name],
            "variable": None if setting.own_file_only else setting.variable,
        }
        for setting in SETTINGS
    ]
    width = max(len(str(row["name"])) for row in rows)
    lines = [f"{row['name']:{width}}  {row['value']!s:<12} {row['unit']:<12}  {row['origin']}" for row in rows]
    context.show({"settings": rows, "problems": settings.problems}, "\n".join(lines))
    for problem in settings.problems:
        context.say(problem)
    return 1 if settings.problems else 0


def _link(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json)
    place, settings = context.here(create=False)
    if arguments.id:
        context.check_may_take_away(place, settings, "links another archive")
        joined = link(place, settings.data_dir, arguments.id)
        has_other = has_id(place) and place.id not in {None, arguments.id}
        old = f"; what was recorded under its own id stays in {place.folder}" if has_other else ""
        context.show(joined.as_dict(), f"{joined.worktree} now uses archive {joined.id}{old}")
        return 0
    found = candidates(place, settings.data_dir)
    lines = [f"{other.id}  {other.archive_bytes / 1e6:8.1f} MB  {other.worktree}" for other in found]
    context.show(
        [other.as_dict() for other in found], "\n".join(lines) or "no other archive of this repository is known"
    )
    return 0
