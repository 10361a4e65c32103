"""Common parts of all hooks: one JSON object on stdin, at most one answer on stdout, a trace of the run.

The hooks around a tool call load little more than this, because the agent waits for them at every tool. Invariant: a
run raises nothing. A problem is logged with its secrets masked.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from unified_state.errors import UnifiedStateError, UsageError
from unified_state.lib.json_text import parse_json
from unified_state.model.hook_event import TIMEOUTS, TOOL_TIMEOUT, HookEvent
from unified_state.settings import default_data_dir

_STDIN_SECONDS = 5.0


def given() -> bytes:
    """Read the client's input from stdin."""
    return b"" if sys.stdin is None else read_stdin(sys.stdin.fileno(), _STDIN_SECONDS)


def tell(answer: str) -> bool:
    """Send an answer to the client, if there is one. Return False if stdout is closed or takes no more."""
    if not answer:
        return True
    if sys.stdout is None:
        return False
    try:
        sys.stdout.buffer.write(answer.encode("utf-8", "replace"))  # independent of the locale
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the last flush of a command
        return False
    return True


def warn(line: str) -> None:
    """Write a line to stderr, if it takes one."""
    if sys.stderr is None:
        return
    try:
        print(line, file=sys.stderr, flush=True)  # noqa: T201
    except OSError:
        return  # it is full, or its reader is gone


_PART_OF_TIMEOUT = 0.9
_PART_OF_START = 0.6  # of a session start's timeout: what it has by then is printed in the time that is left
_START = "SessionStart"


class DeadlineError(BaseException):
    """The hook took too long. It is no Exception, so that no code on the way handles it."""


_limits: list[float] = []  # the time limits of this process in seconds, the next one first


def limit_time(event_name: str) -> None:
    """Stop the hook of this process in time for the client's timeout, with a DeadlineError in `Run.attempt`.

    Only code that owns its process calls it: there is one alarm in a process.
    """
    timeout = TIMEOUTS.get(event_name, TOOL_TIMEOUT)
    _limits[:] = [timeout * part for part in ((_PART_OF_START,) if event_name == _START else ()) + (_PART_OF_TIMEOUT,)]
    _set_alarm(_limits[0])


def use_rest_of_time() -> None:
    """After a DeadlineError, which a session start handles: stop it at its next limit, if there is one."""
    passed = _limits.pop(0) if _limits else 0.0
    if _limits:
        _set_alarm(_limits[0] - passed)


def _set_alarm(seconds: float) -> None:
    """Call `_stop` in the main thread after so many seconds, and then every second."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.signal(signal.SIGALRM, lambda _number, _frame: _stop())
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)


def _stop() -> None:
    if _limits:
        message = f"it was stopped after {_limits[0]:g} seconds"
        raise DeadlineError(message)


class Run:
    """One run of a hook, and its trace.

    `folder` has the repository's data, `name` names the trace, and `problem` is the failure.
    """

    def __init__(self, event_name: str, data_dir: str, name: str = "") -> None:
        self.event_name, self.name = event_name, name or event_name
        self.data_dir = data_dir or default_data_dir()
        self.started, self.now = time.monotonic(), int(time.time() * 1000)
        self.folder: str | None = None
        self.problem: str | None = None
        self.is_late = False
        self._details = ""

    def report(self, problem: str | None) -> None:
        """Record a problem, if there is one."""
        self.problem = problem or self.problem

    def attempt(self, find: Callable[[], str]) -> str:
        """Return what `find` returns, or an empty text if it fails."""
        try:
            try:
                return find()
            finally:
                _limits.clear()  # later alarms do nothing
        except UnifiedStateError as error:
            self.problem = str(error)
        except BaseException as error:  # noqa: BLE001  # the hook's edge: nothing of ours may fail the user's turn
            import traceback

            self.is_late = isinstance(error, DeadlineError)
            kind = "" if self.is_late else f"{type(error).__name__}: "
            self.problem, self._details = f"{kind}{error}", traceback.format_exc()
        return ""

    def leave_trace(self) -> None:
        """Record the run and its problem. If that fails too, print the problem to stderr."""
        from unified_state.project.health import HookRun, log_problem, note_run

        self._mask()
        spent = round((time.monotonic() - self.started) * 1000)
        try:
            if self.folder is not None and os.path.isdir(self.folder):
                note_run(self.folder, HookRun(self.name, self.now, spent, self.problem or None))
            if self.problem:
                log_problem(self.data_dir, self.now, self.event_name, self.problem, self._details)
        except OSError as error:
            warn(f"unified-state: {self.problem or error}")

    def _mask(self) -> None:
        """Mask the problem: it may quote a command, or a text that was being archived."""
        if self.problem:
            from unified_state.secrets.rules.mask import mask_text

            self.problem, self._details = (
                mask_text(text, lambda _secret: "in-log") for text in (self.problem, self._details)
            )


_CHUNK = 1 << 16
_PAUSE = 0.05  # seconds without new input after which the object may be complete although the caller keeps its end open
_MOST_INPUT = 1 << 26  # bytes
_TAIL = 100  # bytes that are searched for the end of the object


def read_stdin(descriptor: int, seconds: float) -> bytes:
    """Return the input up to the end of the file or of the JSON object, or until a timeout. Raises UsageError for one
    that is too long.

    A caller that does not close its end must not make the hook hang. On a busy machine 50 MB take long to arrive.
    """
    received, size = bytearray(), 0
    while _readable(descriptor, seconds):
        chunk = os.read(descriptor, _CHUNK)
        size += len(chunk)
        if size <= _MOST_INPUT:
            received += chunk
        if not chunk or (not _readable(descriptor, _PAUSE) and _complete(received)):
            break
    if size > _MOST_INPUT:  # it was read to its end, because the caller may fail otherwise
        message = f"the input has more than {_MOST_INPUT >> 20} MB"
        raise UsageError(message, "it was ignored")
    return bytes(received)


def parse_event(raw: bytes, event_name: str) -> tuple[HookEvent, str | None]:
    """Return the event, and the problem with its input or None.

    `event_name` replaces a missing name. An input that is not one JSON object returns an empty event. A path that no
    file system takes is left out. Ids have no secrets, because they are written as they are.
    """
    problem = None
    try:
        fields = parse_json(raw.decode("utf-8", "replace")) if raw.strip() else {}
    except (ValueError, RecursionError) as error:
        fields, problem = {}, f"the input of the {event_name} hook is not JSON: {error}"
    if not isinstance(fields, dict):
        fields, problem = {}, f"the input of the {event_name} hook is not an object"
    named: dict[str, Any] = {
        name: value for name, value in fields.items() if name in _TEXT_FIELDS and isinstance(value, str)
    }
    for name in _PATHS:
        if not _is_path(named.get(name, "")):
            del named[name]
    named.update({name: _without_secrets(named[name]) for name in _IDS & named.keys()})
    extra = {name: value for name, value in fields.items() if name not in _TEXT_FIELDS}
    return HookEvent(**{"hook_event_name": event_name, **named, "extra": extra}), problem


def _without_secrets(text: str) -> str:
    """Return an id with its secrets masked. Those that clients make are recognized without loading the rules."""
    is_uuid = len(text) == _UUID and text[8] == text[13] == "-"
    if is_uuid or len(text) < _SHORTEST_SECRET:
        return text
    from unified_state.secrets.rules.mask import hide_secrets

    return hide_secrets(text)


_PATHS = ("transcript_path", "cwd")
_IDS = {"session_id", "agent_id", "agent_type"}
_TEXT_FIELDS = {"hook_event_name", *_IDS, *_PATHS}
_UUID, _SHORTEST_SECRET = 36, 18  # characters


def _is_path(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def _complete(received: bytearray) -> bool:
    if not received[-_TAIL:].rstrip().endswith(b"}"):
        return False
    try:
        parse_json(received.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _readable(descriptor: int, seconds: float) -> bool:
    if sys.platform == "win32":  # select accepts only sockets there; the client closes its end
        return True
    import select  # not on every platform

    return bool(select.select([descriptor], [], [], seconds)[0])
