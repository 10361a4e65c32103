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
from unified_state.interfaces.cli.progress import progress_bar
from unified_state.interfaces.cli.terminal import is_person
from unified_state.lib.json_text import dump_json
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.lib.times import current_time
from unified_state.memory.ledger.gate import pass_gate
from unified_state.memory.workspace.workspace import Workspace
from unified_state.settings import environment, load_settings
from unified_state.team.administer import administered_server, check_own_server, member_dsn, share_earlier
from unified_state.team.sync_server import Limits, note_no_run, sync
from unified_state.team.sync_server import Server as SyncServer
from unified_state.team.team_server import team_server

if TYPE_CHECKING:
    from unified_state.team.postgres.server_dsn import Server
    from unified_state.team.postgres.set_up_server import Admitted

_WHERE = option(
    "--dsn DSN",
    "the server as its administrator, without a password; default: postgres_dsn, or the server of this machine",
)
_UNSEEN = "[it is not shown] "
_PAUSE = 1.0  # seconds for the hook that started the sync to archive the turn
_SECONDS, _AT_MOST = 40.0, 55.0  # the time after which a background run starts nothing new, and its timeout


def _init(context: Context, arguments: Namespace) -> None:
    server = _server(arguments)
    from unified_state.team.postgres.set_up_server import init_server

    done = init_server(server, arguments.owner)
    vectors = f"{done.vectors}: {done.vectors_hint}" if done.vectors_hint else done.vectors
    rows = {"database": done.database, "schema": f"{done.schema}, owned by {done.owner}", "vectors": vectors}
    lines = [f"{name:9} {text}" for name, text in rows.items()]
    context.show(done.as_dict(), "\n".join([*lines, "next      unified-state server admit MEMBER"]), style="labels")


def _admit(context: Context, arguments: Namespace) -> None:
    if arguments.no_password and arguments.reset_password:
        message = "--no-password and --reset-password contradict each other"
        raise UsageError(message, "give one of them")
    server, settings = _server(arguments), load_settings(None, environment())
    from unified_state.team.postgres.set_up_server import Admission, admit_member

    admission = Admission(
        role=arguments.role or arguments.member,
        organisation=arguments.organisation or settings.postgres_organisation,
        member=arguments.member,
        writes=not arguments.read_only,
        ask_password=None if arguments.no_password else partial(_password, arguments),
        resets_password=arguments.reset_password,
        takes_role=arguments.existing_role,
    )
    done = admit_member(server, admission)
    lines = _settings_of(server, admission.role, admission.organisation, admission.member)
    value = {**done.as_dict(), "organisation": admission.organisation, "member": admission.member, "settings": lines}
    context.show(value, "\n".join([_admitted(done), f"{admission.member} writes into config.toml:", *lines]))
    if done.unbound:
        context.say(
            f"only admitted members may use {admission.organisation!r} from now on; "
            f"these lost their access until you admit them: {', '.join(done.unbound)}"
        )


def _server(arguments: Namespace) -> Server:
    return administered_server(arguments.dsn, load_settings(None, environment()), environment())


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


def _admitted(done: Admitted) -> str:
    role = f"the role {done.role!r} was {'created' if done.is_new else 'there'}"
    if done.is_new:
        return f"admitted; {role}"
    return f"admitted; {role}, and {'got a new' if done.has_new_password else 'keeps its'} password"


def _settings_of(server: Server, role: str, organisation: str, member: str) -> list[str]:
    """Return the lines of the member's settings file."""
    return [
        "postgres_enabled = true",
        f"postgres_dsn = {_toml(member_dsn(server, role))}",
        f"postgres_organisation = {_toml(organisation)}",
        f"postgres_member = {_toml(member)}",
    ]


def _toml(text: str) -> str:
    return dump_json(text)  # a basic string of TOML has the escapes of JSON


def _check(context: Context, _arguments: Namespace) -> int:
    return show_checks(context, list(check_own_server(load_settings(None, environment()), environment())))


def _share(context: Context, arguments: Namespace) -> None:
    whether = not arguments.off
    if whether:
        deed = "lets colleagues find the decisions, constraints, questions and attempts from before they could"
        pass_gate(origin_of(environment()), deed, "all of yours on this server")
    share_earlier(load_settings(None, environment()), environment(), whether=whether)
    told = "colleagues find your earlier items, too" if whether else "colleagues find your earlier items no more"
    context.show({"shares_earlier": whether}, told)


def _sync(context: Context, arguments: Namespace) -> None:
    if arguments.background:
        return _sync_in_background(context)
    workspace = context.changing()
    server = _server_of(workspace)
    with progress_bar("sending"):
        done = sync(workspace, server, current_time, Limits(records=arguments.limit))
    rest = "it has everything" if done.complete else "there is more; sync again"
    vectors = f", and {done.vectors:,} vectors" if done.vectors else ""
    again = "it lost records that it had confirmed, so all are sent again; " if done.again else ""
    text = f"{done.server}: {again}{done.told:,} records sent, {done.new:,} of them new{vectors}; {rest}"
    if done.private:
        items = "item stays" if done.private == 1 else "items stay"
        text += f"; {done.private:,} earlier {items} private until `unified-state server share`"
    return context.show(done.as_dict(), text)


def _server_of(workspace: Workspace, *, is_own: bool | None = None) -> SyncServer:
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
    "sync": Command(
        _sync,
        option("--limit N", "stop once so many records and vectors were sent", type=count),
        flag("--background", "as the end of a turn starts it: at most a minute, and silently"),
    ),
    "server init": Command(
        _init,
        _WHERE,
        option(
            "--owner ROLE",
            "who owns the schema if a superuser runs this; default: unified_state",
            default="unified_state",
        ),
        about="create or update the database, its schema and pgvector, as an administrator",
    ),
    "server admit": Command(
        _admit,
        argument("member", metavar="MEMBER", help="the member's name"),
        _WHERE,
        option("--organisation NAME", "default: postgres_organisation of your settings"),
        option("--role ROLE", "the database role that proves the name; default: the name"),
        flag("--read-only", "the member reads, and writes nothing"),
        flag("--existing-role", "use a role that is there already and was not made for this member"),
        either(
            option("--password-file FILE", "the role's password, in one line; `-` reads stdin; default: you are asked"),
            flag("--no-password", "set none"),
        ),
        flag("--reset-password", "give a role that is there already a new password, too"),
        about="let a member in, as an administrator",
    ),
    "server share": Command(
        _share,
        flag("--off", "take it back"),
        about="let colleagues find items that you recorded before they could",
    ),
    "server check": Command(_check, about="say what works for you, what does not, and what to do"),
}
