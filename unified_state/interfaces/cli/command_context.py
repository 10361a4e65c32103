"""Shared parts of all commands: arguments, the workspace of the current folder, and output.

Data is printed to stdout, as text or as one JSON value. Messages for people are printed to stderr.
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from unified_state.errors import NotAtGateError, NothingArchivedError, UsageError
from unified_state.hosts.transcripts.rules.hosts import AGENT_VARIABLES, SESSION_VARIABLES
from unified_state.lib.fence import visible, visible_json
from unified_state.lib.files import lies_in
from unified_state.lib.json_text import dump_ascii_json, dump_json
from unified_state.lib.text import well_formed
from unified_state.model.constraint import INFERRED, USER_SAID
from unified_state.model.refs import GLOBAL_MARK
from unified_state.settings import Settings, environment, load_settings

if TYPE_CHECKING:
    from argparse import Namespace

    from unified_state.interfaces.cli.terminal import Style
    from unified_state.model.check import Check
    from unified_state.project.place import Place
    from unified_state.project.workspace.workspace import Workspace

    Action = Callable[["Context", Namespace], int | None]

Add = Callable[[Any], object]

_REFS = ("id", "by", "supersedes")  # arguments that are an item's ref

PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"  # as `place` has it, which a person's command does not load
SERVER = "server"  # the name in arguments
POINT = "K2 (a compaction), T41 (a turn), 2026-03-14, 3d, yesterday, HEAD~3, a branch, a tag or the id of a commit"


class Command:
    """A command, or a verb of one: the function that runs it, and its arguments."""

    def __init__(
        self, action: Action, *arguments: Add, about: str = "", has_json: bool = True, empty: Any = None
    ) -> None:
        """`about` is the help of a verb. `action` returns the exit code, or None for 0. `empty` is what a command that
        reads prints as JSON where nothing is archived yet.
        """
        self.about = about
        self._action, self._arguments, self._has_json, self._empty = action, arguments, has_json, empty

    def fill(self, parser: Any) -> None:
        """Add the arguments to a parser."""
        for add in (JSON, *self._arguments) if self._has_json else self._arguments:
            add(parser)
        parser.set_defaults(run=self.run)

    def run(self, arguments: Namespace) -> int:
        """Run the command, and return its exit code."""
        as_json, session_id = getattr(arguments, "json", False), getattr(arguments, "session_id", None)
        is_global = _is_of_all_projects(vars(arguments))
        context = Context(as_json=as_json, session_id=session_id, is_global=is_global)
        try:
            return self._action(context, arguments) or 0
        except NotAtGateError as error:
            error.hint = error.hint.replace("inbox accept ", f"inbox accept {context.mark}")
            raise
        except NothingArchivedError as error:
            if self._empty is None:
                raise
            context.nothing(self._empty, str(error))
            return 0


def _is_of_all_projects(given: dict[str, Any]) -> bool:
    """Return whether a command uses the memory for all projects: by --global, or by its refs, which lose their mark."""
    refs = [given[name] for name in _REFS if given.get(name)] + (given.get("ids") or [])
    if not (given.get("is_global") or (refs and all(ref.startswith(GLOBAL_MARK) for ref in refs))):
        return False
    if given.get("scope"):
        message = "the agent reads a constraint for all projects, and no hook enforces it"
        raise UsageError(message, "leave --scope out, or record it in the project")
    given |= {name: given[name].removeprefix(GLOBAL_MARK) for name in _REFS if given.get(name)}
    given |= {"ids": [ref.removeprefix(GLOBAL_MARK) for ref in given["ids"]]} if given.get("ids") else {}
    return True


def argument(*names: str, **options: Any) -> Add:
    """Return a function that adds an argument to a parser."""
    return lambda parser: parser.add_argument(*names, **options)


def flag(name: str, text: str) -> Add:
    """Return a function that adds an option without a value."""
    return argument(name, action="store_true", help=text)


def option(words: str, text: str, **options: Any) -> Add:
    """Return a function that adds an option with a value: `--limit N`."""
    name, value = words.split()
    return argument(name, metavar=value, help=text, **options)


def either(*arguments: Add, required: bool = False) -> Add:
    """Return a function that adds mutually exclusive arguments."""

    def add(parser: Any) -> None:
        group = parser.add_mutually_exclusive_group(required=required)
        for one in arguments:
            one(group)

    return add


def count(text: str) -> int:
    """Return the number of an argument. Raises ValueError if it is less than one."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


count.__name__ = "number"  # argparse names the function in its message

JSON = argument("--json", action="store_true", default=SUPPRESS, help="print JSON")  # before or behind a verb
GLOBAL = argument("--global", action="store_true", dest="is_global", help="in your memory for all projects")
SESSION = option("--session ID", "default: the session that runs this command", dest="session_id")


class Context:
    """One run of the command line. `session_id` is the session that a command works for, if an argument names one, and
    `named` the project. `mark` begins the refs that are shown: those of the memory for all projects have one.
    """

    named: str | None = None
    mark = ""

    def __init__(self, *, as_json: bool, session_id: str | None = None, is_global: bool = False) -> None:
        self.as_json = as_json
        self.session_id = session_id
        try:
            self.folder = os.getcwd()
        except FileNotFoundError:
            self.folder = ""  # it was removed, and a session's commands belong to its project all the same
        self._has_said = self._has_named = False
        if is_global:
            from unified_state.project.place import global_folder

            self.named, self.mark = global_folder(load_settings(None, environment()).data_dir), GLOBAL_MARK

    def _check_may_change(self) -> None:
        """Raise NotAtGateError where another than the user would change the memory for all projects."""
        if not self.mark:
            return
        from unified_state.ledger.gate import may_confirm

        if not may_confirm(origin_of(environment())):
            message = "only the user changes the memory for all projects"
            raise NotAtGateError(message, "ask them to run this in a terminal of their own")

    @property
    def _project(self) -> str:
        """The folder whose memory a command uses: the named one, that of the session which runs it, or the current."""
        if self.named:
            return os.path.abspath(self.named)
        project = ""
        if any(map(environment().get, (*SESSION_VARIABLES, PROJECT_VARIABLE))):
            from unified_state.project.workspace.workspace import client_project

            project = client_project(environment(), load_settings(None, environment()).data_dir)
        if not project and not self.folder:
            message = "the current folder was removed"
            raise UsageError(message, "go into another one")
        return project or self.folder

    def workspace(self, *, create: bool) -> Workspace:
        """Open the workspace of the project. A command that only reads creates nothing, and waits only a little for
        another process that writes.
        """
        if create:
            self._check_may_change()
        from unified_state.project.workspace.workspace import open_workspace  # hooks run without it
        from unified_state.upkeep.around_use import CATCH_UP_AND_SETTLE

        workspace = open_workspace(
            self._project,
            self.session_id,
            report=self.say,
            origin=origin_of(environment()),
            create=create,
            around_use=CATCH_UP_AND_SETTLE,
            shell=self.folder,
        )
        worktree = workspace.place.repository.worktree
        if self.folder and not (self.named or self._has_named) and not lies_in(os.path.realpath(self.folder), worktree):
            self._has_named = True
            sys.stderr.write(f"unified-state: this session belongs to {visible(worktree)}, whose memory is used\n")
        return workspace

    def reading(self) -> Workspace:
        """Open the workspace for a command that reads the archive. Raises NothingArchivedError if there is no
        archive.
        """
        workspace = self.workspace(create=False)
        if workspace.is_empty:
            message = "nothing is archived here yet"
            raise NothingArchivedError(
                message, "run `unified-state install`, or `unified-state import` for old sessions"
            )
        return workspace

    def changing(self) -> Workspace:
        """Open the workspace for a command that changes what is archived. Raises NothingArchivedError without
        an archive.
        """
        from unified_state.project.workspace.workspace import WRITER_SECONDS

        self._check_may_change()
        return self.reading().replace(seconds=WRITER_SECONDS)

    def here(self, *, create: bool) -> tuple[Place, Settings]:
        """Return the place and the settings of the current folder, for what sets it up, whatever session runs that. The
        command itself shows wrong settings.
        """
        return self._at(self.folder, create=create)

    def of_project(self) -> tuple[Place, Settings]:
        """Return the place and the settings of the project. The command itself shows wrong settings."""
        return self._at(self._project, create=False)

    def _at(self, folder: str, *, create: bool) -> tuple[Place, Settings]:
        from unified_state.project.place import locate

        data_dir = load_settings(None, environment()).data_dir
        place = locate(folder, data_dir, create=create, shell=self.folder)
        return place, load_settings(place.repository.worktree, environment(), place.repository.owner)

    def check_may_take_away(self, place: Place, settings: Settings, deed: str) -> None:
        """Raise UsageError if `deed` would end all rules in force and the caller is not the user."""
        from unified_state.constraints.compile_constraints import check_may_take_away
        from unified_state.project.workspace.workspace import Workspace
        from unified_state.upkeep.around_use import SETTLE

        # A rule that waits for the archive is in force too.
        workspace = Workspace(place, settings, report=self.say, origin=origin_of(environment()), around_use=SETTLE)
        check_may_take_away(workspace, deed)

    def show(self, value: Any, text: str, *, is_visible: bool = False, style: Style | None = None) -> None:
        """Print a result: the value with --json, or else the text. Without `is_visible` it is made visible. On a
        terminal it has a style.
        """
        if self.as_json:
            self.write(visible_json(dump_ascii_json(value)))
        elif text:
            shown = well_formed(text if is_visible else visible(text))
            if style and sys.stdout.isatty():
                from unified_state.interfaces.cli.terminal import painted

                shown = painted(shown, style, sys.stdout)
            sys.stdout.write(shown + "\n")

    def nothing(self, value: Any, line: str) -> None:
        """Print the result where there is nothing: the empty value with --json, and one line for people, if no line
        told the reason already.
        """
        self.show(value, "")
        if not self._has_said:
            self.say(line)

    def write(self, text: str) -> None:
        """Print to stdout what is visible already."""
        sys.stdout.write(well_formed(text) + "\n")

    def write_bare(self, text: str) -> None:
        """Print a text as it is, for a file; on a terminal what is hidden in it is made visible."""
        sys.stdout.write(visible(text) if sys.stdout.isatty() else well_formed(text))

    def write_line(self, value: Any) -> None:
        """Print one value as a line of JSON. Only characters that hide or steer are escaped."""
        line = dump_json(value)
        self.write(visible_json(line if line == well_formed(line) else dump_ascii_json(value)))

    def say(self, line: str) -> None:
        """Print a message for people, on stderr."""
        self._has_said = True
        sys.stderr.write(f"unified-state: {visible(well_formed(line))}\n")


def show_checks(context: Context, checks: Sequence[Check]) -> int:
    """Print the results of checks, and return the exit code. A hint is for a check that found something."""
    width = max(len(check.name) for check in checks)
    hints = ["" if check.ok else check.hint for check in checks]
    lines = [
        f"{'ok ' if check.ok else 'BAD'} {check.name:{width}}  {check.message}" + (f" -> {hint}" if hint else "")
        for check, hint in zip(checks, hints, strict=True)
    ]
    told = [{**check.as_dict(), "hint": hint} for check, hint in zip(checks, hints, strict=True)]
    context.show(told, "\n".join(lines), style="verdicts")
    return 0 if all(check.ok for check in checks) else 1


def origin_of(environ: Any) -> str:
    """Return the origin of a command: an agent, if one started the command, or else the user."""
    return INFERRED if any(map(environ.get, AGENT_VARIABLES)) else USER_SAID
