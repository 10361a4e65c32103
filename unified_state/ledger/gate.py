"""The gate: only the user, at a terminal, may weaken or confirm a rule.

A rule is a constraint. The gate is checked by every command that lifts, replaces or forgets one, accepts or dismisses a
proposed one, or ends all of them (uninstalling, linking another archive). No option skips the question. An agent that
hides all its traces and creates its own terminal still passes, because it runs as the user.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from unified_state.errors import NotAtGateError, UsageError
from unified_state.hosts.transcripts.rules.hosts import is_agents
from unified_state.ledger.item_table import ACTIVE, PROPOSED
from unified_state.ledger.rules.item_lines import harmless
from unified_state.ledger.rules.short_item import main_text
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, open_regular
from unified_state.lib.text import cut
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, LedgerItem
from unified_state.settings import environment

if TYPE_CHECKING:
    from unified_state.model.history_records import StoredItem

# Of Claude Code: whether a person is at its screen, and a variable of the commands that its agent runs.
_ATTENDED, _OF_A_COMMAND = "CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_EXECPATH"
_ANSWER = "yes"
_ASK_THEM = "ask them to run this in a terminal of their own"
_SHOWN = 160  # characters of a rule
_LONGEST_ANSWER = 1024  # bytes


def is_in_force(item: LedgerItem | StoredItem) -> bool:
    """Return whether the item is a rule in force."""
    return item.kind == CONSTRAINT and item.status == ACTIVE


def is_rule(item: LedgerItem | StoredItem) -> bool:
    """Return whether the item is a rule in force, or would be if it were accepted."""
    return is_in_force(item) or (item.kind == CONSTRAINT and item.status == PROPOSED)


def pass_gate_for(
    items: Iterable[LedgerItem | StoredItem], origin: str, verb: str, *, beside: str = "", deed: str = ""
) -> None:
    """Pass the gate if any of the items is a rule, or in any case for a `deed`. `verb` is the action: `lifts`,
    `forgets`. `beside` tells what else it does. Raises NotAtGateError.
    """
    rules = [item for item in items if is_rule(item)]
    if rules or deed:
        refs = ", ".join(item.alias for item in rules)
        about = "; ".join(cut(harmless(main_text(item)), _SHOWN) for item in rules)
        pass_gate(origin, deed or f"{verb} {refs}", f"{about}; {beside}" if beside else about)


def pass_gate(origin: str, deed: str, about: str = "") -> None:
    """Ask the user at the terminal. `deed` is the action, as in `lifts C1`.

    Raises NotAtGateError without a terminal, if an agent started this process, and if the user does not answer yes.
    """
    if _is_an_agents(origin):
        message = f"only the user {deed}"
        raise NotAtGateError(message, _ASK_THEM)
    if not _is_at_terminal():
        message = f"only the user {deed}, and this is no terminal"
        raise NotAtGateError(message, f"{_ASK_THEM}; no option answers for them")
    if _answer(f"unified-state: this {deed}{f' ({about})' if about else ''}. Type {_ANSWER} to go on: ") != _ANSWER:
        message = f"nothing was changed: this {deed}"
        raise NotAtGateError(message, f"type {_ANSWER} to go on")


def may_confirm(origin: str) -> bool:
    """Return whether the user is at this process's terminal, and no agent started it."""
    return not _is_an_agents(origin) and _is_at_terminal()


def _is_an_agents(origin: str) -> bool:
    return origin != USER_SAID or is_agents(environment()) or any(map(_is_agents, _ancestors()))


def is_typed_by_user(environ: Mapping[str, str]) -> bool:
    """Return whether a prompt hook with this environment tells what a person typed into Claude Code.

    Its screen must be attended, no agent may have started it, and it must have called the hook itself: the environment
    of an agent's commands is told by a variable that hooks do not have.
    """
    pid = environ.get("CLAUDE_PID", "")
    is_interactive = environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli" and environ.get(_ATTENDED) == "1"
    if not is_interactive or environ.get(_OF_A_COMMAND) or not (pid.isascii() and pid.isdigit()):
        return False
    if not os.path.exists("/proc/self/environ"):
        return True
    above = [*_ancestors(), 1]  # the client may be a container's first process
    if int(pid) not in above:
        return False
    client = above.index(int(pid))
    is_commands = any(_OF_A_COMMAND in _environ_of(process) for process in above[:client])
    return not is_commands and not any(map(_is_agents, above[client:]))


def confirm(deed: str, hint: str) -> None:
    """Ask the user at the terminal before something is final that is no rule. `deed` is the action, as in `takes D1`.

    Raises UsageError without a terminal, with a hint for scripts, and if the user does not answer yes.
    """
    if not _is_at_terminal():
        message = f"this {deed}, and that cannot be undone"
        raise UsageError(message, hint)
    if _answer(f"unified-state: this {deed}, and that cannot be undone. Type {_ANSWER} to go on: ") != _ANSWER:
        message = f"nothing was changed: this {deed}"
        raise UsageError(message, f"type {_ANSWER} to go on")


def _is_at_terminal() -> bool:
    """Return whether stdin is a terminal that this process may read from."""
    try:
        return os.isatty(0) and (sys.platform == "win32" or os.tcgetpgrp(0) == os.getpgrp())
    except OSError:
        return False


def _answer(question: str) -> str:
    """Return the user's answer at the controlling terminal, wherever stdout and stderr are redirected."""
    if sys.platform == "win32":
        sys.stderr.write(question)
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower()
    import termios

    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError as error:
        message = f"there is no terminal to ask at: {error.strerror}"
        raise NotAtGateError(message, _ASK_THEM) from error
    try:
        termios.tcflush(terminal, termios.TCIFLUSH)  # discard input typed before the question
        os.write(terminal, question.encode())
        return os.read(terminal, _LONGEST_ANSWER).decode("utf-8", "replace").strip().lower()
    finally:
        os.close(terminal)


def _ancestors() -> Iterator[int]:
    """Yield the process ids of this process's ancestors; none on a system without /proc."""
    process = os.getppid()
    while process > 1:
        yield process
        try:
            with open_regular(f"/proc/{process}/stat") as file:
                process = int(file.read(SMALL_FILE).rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return  # the process has ended, or there is no /proc


def _is_agents(process: int) -> bool:
    """Return whether a process has an agent's environment variables."""
    return is_agents(_environ_of(process))


def _environ_of(process: int) -> dict[str, str]:
    """Return the environment with which a process began. That of another user's process is unreadable, so empty."""
    try:
        with open_regular(f"/proc/{process}/environ") as file:
            variables = file.read(LARGE_FILE).split(b"\0")
    except OSError:
        return {}
    return dict(variable.decode("utf-8", "replace").partition("=")[::2] for variable in variables)
