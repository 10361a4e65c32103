"""`doctor`, `config`: check the installation and the items, show the settings, choose the archive."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from unified_state import extension
from unified_state.interfaces.cli.command_context import Command, Context, argument, either, flag, show_checks
from unified_state.lib.times import current_time
from unified_state.project.workspace.link import candidates, link
from unified_state.setting_table import SETTINGS
from unified_state.settings import PROJECT_FILE, environment, user_file
from unified_state.upkeep.doctor.check_items import check_items
from unified_state.upkeep.doctor.diagnose import diagnose

_DEFAULT = "default"  # the origin of a setting without a value of the user's


def _doctor(context: Context, arguments: Namespace) -> int:
    if arguments.items:
        checks = check_items(context.reading())
    else:
        options = {"reads_all": arguments.full, "mends": arguments.fix}
        checks = diagnose(*context.of_project(), environment(), current_time(), **options)
    return show_checks(context, checks)


def _config(context: Context, _arguments: Namespace) -> int:
    place, settings = context.of_project()
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
    rows += [
        {"name": f"{name}.{field}", "value": value, "unit": "", "origin": user_file(), "variable": None}
        for name, table in settings.tables.items()
        for field, value in table.items()
    ]
    unknown = settings.tables.keys() - (extension.names() if settings.tables else set())
    problems = [*settings.problems, *(f"{user_file()}: there is no extra {name!r}" for name in sorted(unknown))]
    files = {"own": user_file(), "project": os.path.join(place.repository.worktree, PROJECT_FILE)}
    text = "\n".join([*_setting_lines(rows), "", *_file_lines(files)])
    context.show({"settings": rows, "problems": problems, "files": files}, text, style="labels")
    for problem in problems:
        context.say(problem)
    return 1 if problems else 0


def _setting_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each setting. Those that were set come first."""
    width = max(len(row["name"]) for row in rows)
    ordered = sorted(rows, key=lambda row: row["origin"] == _DEFAULT)
    return [f"{row['name']:{width}}  {row['value']!s:<12} {row['unit']:<12}  {row['origin']}" for row in ordered]


def _file_lines(files: dict[str, str]) -> list[str]:
    """Return where to write settings: the user's file, and the project's."""
    titles = {"own": "your settings", "project": "of this project"}
    return [
        f"{titles[name]:<15}  {path}{'' if os.path.exists(path) else ' (not there yet)'}"
        for name, path in files.items()
    ]


def _link(context: Context, arguments: Namespace) -> None:
    place, settings = context.here(create=False)
    if arguments.id:
        context.check_may_take_away(place, settings, "links another archive")
        joined = link(place, settings.data_dir, arguments.id)
        has_other = place.id not in {None, arguments.id}
        old = f"; what was recorded under its own id stays in {place.folder}" if has_other else ""
        return context.show(joined.as_dict(), f"{joined.worktree} now uses archive {joined.id}{old}")
    found = candidates(place, settings.data_dir)
    if not found:
        return context.nothing([], "no other archive of this repository is known")
    lines = [f"{other.id}  {other.archive_bytes / 1e6:8.1f} MB  {other.worktree}" for other in found]
    return context.show([other.as_dict() for other in found], "\n".join(lines), style="labels")


COMMANDS = {
    "doctor": Command(
        _doctor,
        either(
            flag("--full", "read a large archive to its end: some seconds a gigabyte, for which writers wait"),
            flag("--items", "check the recorded items instead: duplicates, stale results, secrets"),
        ),
        flag("--fix", "remove the files that killed processes left"),
        empty=[],
    ),
    "config": Command(_config),
    "config link": Command(
        _link,
        argument("id", nargs="?", metavar="ID", help="the archive to join; without it, list the archives"),
        about="use the archive of another clone of this repository",
    ),
}
