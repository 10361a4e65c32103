"""`server`, `sync`: set up a team's server, admit members, check what works, and bring it up to date."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from unified_state.errors import AlreadyRunningError, MissingExtraError, SettingError, UsageError
from unified_state.extras.team.sync_server import Limits, note_no_run, sync, take_back
from unified_state.extras.team.team_server import (
    TeamServer,
    administered_server,
    agree,
    check_own_server,
    disagree,
    member_dsn,
    team_server,
)
from unified_state.interfaces.cli.command_context import (
    Command,
    Context,
    argument,
    count,
    either,
    flag,
    option,
    origin_of,
    show_checks,
)
from unified_state.interfaces.cli.terminal import is_person, progress_bar
from unified_state.ledger.gate import confirm, pass_gate
from unified_state.lib.json_text import dump_json
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.lib.text import counted, cut
from unified_state.lib.times import current_time
from unified_state.project.workspace.workspace import Workspace
from unified_state.settings import environment, load_settings

if TYPE_CHECKING:
    from unified_state.extras.team.postgres.server_dsn import Server

_WHERE = option(
    "--dsn DSN",
    "the server as its administrator, without a password; default: the server of this machine",
)
_ORGANISATION = option("--organisation NAME", "default: postgres_organisation of your settings")
_MEMBER = argument("member", metavar="MEMBER", help="the member's name")
_UNSEEN = "[it is not shown] "
_SHOWN = 400  # characters of the readers' names
_PAUSE = 1.0  # seconds for the hook that started the sync to archive the turn
_SECONDS, _AT_MOST = 40.0, 55.0  # the time after which a background run starts nothing new, and its timeout


def _init(context: Context, arguments: Namespace) -> None:
    server = _server(arguments)
    from unified_state.extras.team.postgres.set_up_server import init_server

    done = init_server(server)
    lines = [f"{name:9} {text}" for name, text in done.items()]
    context.show(done, "\n".join([*lines, "next      unified-state server admit MEMBER"]), style="labels")


def _admit(context: Context, arguments: Namespace) -> None:
    if arguments.no_password and arguments.reset_password:
        message = "--no-password and --reset-password contradict each other"
        raise UsageError(message, "give one of them")
    server = _server(arguments)
    from unified_state.extras.team.postgres.set_up_server import Admission, admit_member

    admission = Admission(
        organisation=_organisation(arguments),
        member=arguments.member,
        writes=not arguments.read_only,
        projects=tuple(arguments.project) if arguments.project else None,
        is_again=arguments.again,
        ask_password=None if arguments.no_password else partial(_password, arguments),
        resets_password=arguments.reset_password,
    )
    done = admit_member(server, admission)
    lines = [  # a basic string of TOML has the escapes of JSON
        "postgres_enabled = true",
        f"postgres_dsn = {dump_json(member_dsn(server, done['role']))}",
        f"postgres_organisation = {dump_json(admission.organisation)}",
    ]
    value = {**done, "organisation": admission.organisation, "member": admission.member, "settings": lines}
    role = f"the role {done['role']!r} was {'created' if done['is_new'] else 'there'}"
    if not done["is_new"]:
        role += f", and {'got a new' if done['has_new_password'] else 'keeps its'} password"
    context.show(value, "\n".join([f"admitted; {role}", f"{admission.member} writes into config.toml:", *lines]))


def _remove(context: Context, arguments: Namespace) -> None:
    from unified_state.extras.team.postgres.set_up_server import remove_member

    organisation = _organisation(arguments)
    role = remove_member(_server(arguments), organisation, arguments.member)
    text = f"{arguments.member} has no access to {organisation!r} any more; the records remain"
    context.show({"member": arguments.member, "role": role}, text)


def _members(context: Context, arguments: Namespace) -> None:
    from unified_state.extras.team.postgres.set_up_server import list_members

    found = list_members(_server(arguments), _organisation(arguments))
    lines = []
    for one in found:
        login = "was removed" if one.login is None else f"logs in as {one.login}"
        only = f", only in {', '.join(one.projects)}" if one.projects else ""
        lines.append(f"{one.member:20} {login}{'' if one.writes else ', reads only'}{only}")
    context.show([one.as_dict() for one in found], "\n".join(lines or ["there are no members yet"]))


def _move(context: Context, arguments: Namespace) -> None:
    from unified_state.extras.team.postgres.set_up_server import move_project

    move_project(_server(arguments), _organisation(arguments), arguments.project, arguments.to)
    value = {"project": arguments.project, "to": arguments.to}
    context.show(value, f"{arguments.project} is {arguments.to} now, and is found by both names")


def _delete_project(context: Context, arguments: Namespace) -> None:
    from unified_state.extras.team.postgres.set_up_server import delete_project

    organisation = _organisation(arguments)
    confirm(f"deletes {arguments.project} of {organisation} with everybody's records", "an administrator runs it")
    count = delete_project(_server(arguments), organisation, arguments.project)
    context.show({"project": arguments.project, "records": count}, f"deleted, with {counted(count, 'record')}")


def _organisation(arguments: Namespace) -> str:
    return arguments.organisation or load_settings(None, environment()).postgres_organisation


def _server(arguments: Namespace) -> Server:
    return administered_server(arguments.dsn, environment())


def _password(arguments: Namespace) -> str:
    """Return the password of a file, of stdin, or what the user types. Raises UsageError."""
    path = arguments.password_file
    if path is None:
        found = _typed(arguments.member)
    else:
        try:
            found = (sys.stdin.buffer.readline() if path == "-" else read_regular(path, SMALL_FILE)).decode()
        except (OSError, ValueError):
            message = f"no password can be read from {path}"
            raise UsageError(message, "it holds the password as UTF-8, in one line") from None
    found = found.removesuffix("\n").removesuffix("\r")
    if not found or "\n" in found or "\0" in found:
        message = "the password is empty, or longer than a line"
        raise UsageError(message, "give one line, or --no-password for roles that log in by certificate or peer")
    return found


def _typed(member: str) -> str:
    from getpass import getpass

    if not is_person(sys.stdin):
        message = "nobody is here to type a password"
        raise UsageError(message, "give --password-file FILE (`-` reads stdin), or --no-password")
    found = getpass(f"Password of {member} {_UNSEEN}")
    if getpass(f"Again {_UNSEEN}") != found:
        message = "the two passwords differ"
        raise UsageError(message, "nothing was changed")
    return found


def _check(context: Context, _arguments: Namespace) -> int:
    return show_checks(context, list(check_own_server(load_settings(None, environment()), environment())))


def _sync(context: Context, arguments: Namespace) -> None:
    if arguments.background:
        return _sync_in_background(context)
    workspace = context.changing()
    if arguments.off:
        stopped = workspace.use(disagree)
        text = "nothing of this project goes to a server any more" if stopped else "nothing of this project went up"
        return context.show({"on": False}, f"{text}; what is there remains, and `server sync --delete` empties it")
    server = _server_of(workspace)
    if arguments.delete:
        return _delete(context, workspace, server)
    if arguments.on:
        server = _agree(workspace, server)
    with progress_bar("sending"):
        done = sync(workspace, server, current_time, Limits(records=arguments.limit))
    rest = "it has everything" if done.complete else "there is more; sync again"
    again = "it lost records that it had confirmed, so all are sent again; " if done.again else ""
    text = f"{done.server}: {again}{done.told:,} records sent, {done.new:,} of them new; {rest}"
    return context.show(done.as_dict(), text)


def _agree(workspace: Workspace, server: TeamServer) -> TeamServer:
    """Ask the user once whether this project's history may go up. Name the server, and who will read it."""
    from unified_state.extras.team.postgres.record_store import readers

    with server.open() as store:  # the server keeps nothing of it yet, not even the project's name
        others = [name for name in readers(store) if name != store.member]
        shown = cut(", ".join(others), _SHOWN) or "nobody else"
        deed = f"lets this project's history go to {store.server}, as {server.project} of {server.organisation}"
        pass_gate(origin_of(environment()), deed, f"read there by {shown}, and by who is admitted later")
        workspace.use(lambda archive: agree(archive, store))
    return _server_of(workspace)


def _delete(context: Context, workspace: Workspace, server: TeamServer) -> None:
    pass_gate(origin_of(environment()), f"deletes everything of yours in {server.project} on the server")
    count = take_back(workspace, server)
    text = f"deleted {counted(count, 'record')} of yours there; nothing goes up any more, and the archive keeps its own"
    context.show({"on": False, "deleted": count}, text)


def _server_of(workspace: Workspace, *, is_own: bool | None = None) -> TeamServer:
    """Return the server of the settings. An error is recorded in the health of the repository first."""
    try:
        return team_server(workspace, environment(), is_own=is_own)
    except (MissingExtraError, SettingError) as error:
        note_no_run(workspace, error, current_time())
        raise


def _sync_in_background(context: Context) -> None:
    """Sync for at most a minute, and print nothing. The result is recorded in the health of the repository."""
    import faulthandler

    # The C-level timer thread ends the process even if it hangs.
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for as long as the process lives
    faulthandler.dump_traceback_later(_AT_MOST, exit=True, file=nowhere)
    end = time.monotonic() + _SECONDS
    time.sleep(_PAUSE)
    workspace = context.workspace(create=False)
    limits = Limits(has_time=lambda: time.monotonic() < end, wait=0)
    server = _server_of(workspace, is_own=False)
    with suppress(AlreadyRunningError):  # the other run sends the same records
        sync(workspace, server, current_time, limits)


COMMANDS = {
    "server sync": Command(
        _sync,
        either(
            flag("--on", "let this project's history go to the server from now on; you are asked once"),
            flag("--off", "send nothing of this project any more"),
            flag("--delete", "delete what you sent of this project, and send nothing any more"),
        ),
        option("--limit N", "stop once so many records were sent", type=count),
        flag("--background", "as the end of a turn starts it: at most a minute, and silently"),
        about="bring the server up to date with what is archived here",
    ),
    "server init": Command(
        _init,
        _WHERE,
        about="create or update the database, its schema and pgvector, as an administrator",
    ),
    "server admit": Command(
        _admit,
        _MEMBER,
        _WHERE,
        _ORGANISATION,
        option("--project NAME", "reads and writes only this project; may be repeated", action="append"),
        flag("--read-only", "the member reads, and writes nothing"),
        flag("--again", "a removed member of that name comes back"),
        either(
            option("--password-file FILE", "the role's password, in one line; `-` reads stdin; default: you are asked"),
            flag("--no-password", "set none"),
        ),
        flag("--reset-password", "give a role that `server admit` made a new password, too"),
        about="let a member in, as an administrator",
    ),
    "server remove": Command(
        _remove, _MEMBER, _WHERE, _ORGANISATION, about="end a member's access; the records remain"
    ),
    "server members": Command(_members, _WHERE, _ORGANISATION, about="list who is a member, and by which role"),
    "server move": Command(
        _move,
        argument("project", metavar="PROJECT", help="its name until now, such as github.com/acme/app"),
        argument("to", metavar="NAME", help="its name from now on"),
        _WHERE,
        _ORGANISATION,
        about="give a project another name, after its `origin` was renamed",
    ),
    "server delete-project": Command(
        _delete_project,
        argument("project", metavar="PROJECT", help="its name, such as github.com/acme/app"),
        _WHERE,
        _ORGANISATION,
        about="delete a project and what everybody sent of it",
    ),
    "server check": Command(_check, about="say what works for you, what does not, and what to do"),
}
