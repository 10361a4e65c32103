"""What the hooks before and behind a tool call have in common: each runs in a process of its own that loads hardly
anything, for it stands between the agent and its tools.

Invariant: whatever happens, nothing is raised; what went wrong is logged, with its secrets masked.
"""

from __future__ import annotations

import os
import sys
import time

from unified_state.errors import UnifiedStateError
from unified_state.lib.stdlib import parse_json
from unified_state.model.hook_event import HookEvent
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_STDIN_SECONDS = 5.0


def given() -> bytes:
    """What the client writes to the hook."""
    return read_stdin(sys.stdin.fileno(), _STDIN_SECONDS)


def tell(answer: str) -> None:
    """Answer the client; there may be nothing to say."""
    if answer:
        sys.stdout.buffer.write(answer.encode("utf-8", "replace"))  # whatever the locale says
        sys.stdout.flush()


class ToolHookRun:
    """One run: what it found out about itself so far is what its trace says, wherever it ends. `folder` is that of the
    repository's own data, `problem` what went wrong.
    """

    def __init__(self, event_name: str, data_dir: str) -> None:
        self.event_name = event_name
        self.data_dir = data_dir or default_data_dir()
        self.now = int(time.time() * 1000)
        self.folder: str | None = None
        self.problem: str | None = None
        self._details = ""
        self._started = time.monotonic()

    def report(self, problem: str | None) -> None:
        """Keep what went wrong, if anything did."""
        self.problem = problem or self.problem

    def answer(self, find: Callable[[], str]) -> str:
        """The answer that is found, or none where that fails."""
        try:
            return find()
        except UnifiedStateError as error:
            self.problem = str(error)
        except BaseException as error:  # noqa: BLE001  # the hook's edge: nothing of ours may fail the user's turn
            import traceback

            self.problem, self._details = f"{type(error).__name__}: {error}", traceback.format_exc()
        return ""

    def leave_trace(self) -> None:
        """Write down that the hook ran, and what went wrong, which may be told afterwards."""
        from unified_state.memory.repository.health import HookRun, log_problem, note_run

        self._mask()
        spent = round((time.monotonic() - self._started) * 1000)
        try:
            if self.folder is not None and os.path.isdir(self.folder):
                note_run(self.folder, HookRun(self.event_name, self.now, spent, self.problem))
            if self.problem:
                log_problem(self.data_dir, self.now, self.event_name, self.problem, self._details)
        except OSError as error:
            print(f"unified-state: {self.problem or error}", file=sys.stderr)  # noqa: T201  # only stderr is left

    def _mask(self) -> None:
        """A message may quote what was to be done, or to be archived."""
        if self.problem is not None:
            from unified_state.memory.secrets.rules.mask import mask_text

            self.problem, self._details = (
                mask_text(text, lambda _secret: "in-log") for text in (self.problem, self._details)
            )


_CHUNK = 1 << 16
_PAUSE = 0.05  # seconds without anything new, after which the object may be whole though the caller left its end open
_TAIL = 100  # bytes in which the end of the object is looked for


def read_stdin(descriptor: int, seconds: float) -> bytes:
    """Everything up to the end of the file or of the JSON object, whichever comes first, or what came until nothing
    more did for so long.

    A caller that forgets to close its end must not make the hook hang; on a busy machine 50 MB take long to come.
    """
    received = bytearray()
    while _readable(descriptor, seconds):
        chunk = os.read(descriptor, _CHUNK)
        received += chunk
        if not chunk or (not _readable(descriptor, _PAUSE) and _complete(received)):
            break
    return bytes(received)


def parse_event(raw: bytes, event_name: str) -> tuple[HookEvent, str | None]:
    """The event and what was wrong with the input, if anything; `event_name` stands in for a missing name."""
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
    extra = {name: value for name, value in fields.items() if name not in _TEXT_FIELDS}
    return HookEvent(**{"hook_event_name": event_name, **named, "extra": extra}), problem


_TEXT_FIELDS = {"hook_event_name", "session_id", "transcript_path", "cwd", "agent_id", "agent_type"}


def _complete(received: bytearray) -> bool:
    if not received[-_TAIL:].rstrip().endswith(b"}"):
        return False
    try:
        parse_json(received.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _readable(descriptor: int, seconds: float) -> bool:
    if sys.platform == "win32":  # select knows only sockets there; the client closes its end
        return True
    import select  # not on every platform

    return bool(select.select([descriptor], [], [], seconds)[0])
