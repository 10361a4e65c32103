"""The hooks as Python functions of an SDK program: each does what the command of the same event does, in a thread.

Invariant: nothing is raised into the agent, and its event loop never waits for the archive.

The client calls no Python function when it starts: what SessionStart gives a session comes with its first prompt, and
SessionEnd is when the program says that it is done.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait

from unified_state.interfaces.hook import Client, run
from unified_state.interpreter import dump_ascii_json, parse_json
from unified_state.records.restore import PARTS
from unified_state.services.hook_table import TIMEOUTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from concurrent.futures import Future
    from typing import Any

    from claude_agent_sdk import HookMatcher

    Fields = Mapping[str, Any]
    Callback = Callable[[Any, str | None, Any], Awaitable[Any]]

_THREADS = 4
_NAMED = ("session_id", "transcript_path", "cwd")  # what every event says of its session
_END_SECONDS = 10.0


class Hooks:
    """The hooks of one program, for as many sessions as it has. `source` is what SessionStart would call their start:
    startup, resume or fork.
    """

    def __init__(self, environ: Mapping[str, str], data_dir: str, source: str) -> None:
        # A program that a client started has that client's variables; its own client is another process.
        self._environ = {name: value for name, value in environ.items() if name != "CLAUDE_PID"}
        self._data_dir = data_dir
        self._source = source
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="unified-state")
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}
        self._work: set[Future[None]] = set()

    def matchers(self) -> dict[Any, list[HookMatcher]]:
        """The value for the SDK's `hooks`."""
        from claude_agent_sdk import HookMatcher

        def matcher(event: str, *callbacks: Callback) -> list[HookMatcher]:
            return [HookMatcher(hooks=[callback], timeout=TIMEOUTS[event]) for callback in callbacks]

        found = {event: matcher(event, self._plain(event)) for event in TIMEOUTS}
        found["SessionStart"] = matcher("SessionStart", *map(self._part, PARTS))
        found["UserPromptSubmit"] = matcher("UserPromptSubmit", *map(self._first, PARTS), self._prompt)
        return found

    def end(self) -> None:
        """Do what is left to be done, and note that the sessions ended. Events that come later are not handled."""
        with self._lock:
            sessions, self._sessions = self._sessions, {}
            for session in sessions.values():
                self._submit("SessionEnd", "", _Caller({**session.fields, "reason": "other"}, self._environ))
            left = set(self._work)
            self._pool.shutdown(wait=False)
        wait(left, timeout=_END_SECONDS)

    def _plain(self, event: str) -> Callback:
        async def callback(fields: Fields, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
            session = self._session(fields)
            if event == "SessionEnd":
                with self._lock:
                    self._sessions.pop(session.fields["session_id"], None)
            return await self._answer(event, "", fields)

        return callback

    def _part(self, part: str) -> Callback:
        """One of the two texts of a session that begins while the client runs: after /clear, or a compaction."""

        async def callback(fields: Fields, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
            self._session(fields).has_begun = True
            return await self._answer("SessionStart", part, fields)

        return callback

    def _first(self, part: str) -> Callback:
        """One of the two texts of a session that began with the client; its first prompt brings them."""

        async def callback(fields: Fields, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
            session = self._session(fields)
            if fields.get("agent_id") or not session.take(part):
                return {}
            start = {**session.fields, "hook_event_name": "SessionStart", "source": self._source}
            try:
                return _as_event("UserPromptSubmit", await self._answer("SessionStart", part, start))
            finally:
                session.given[part].set()

        return callback

    async def _prompt(self, fields: Fields, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
        """The prompt itself, after what was given at the start: that says what is new since the session's last entry,
        and this one archives the newest.
        """
        return await self._answer("UserPromptSubmit", "", fields, after=self._session(fields))

    def _session(self, fields: Fields) -> _Session:
        known = {name: fields.get(name, "") for name in _NAMED}
        with self._lock:
            return self._sessions.setdefault(str(known["session_id"]), _Session(known))

    async def _answer(self, event: str, part: str, fields: Fields, after: _Session | None = None) -> dict[str, Any]:
        """What the hook says. The thread may go on for a while after it has let the client go on."""
        from anyio import to_thread  # as the SDK does: whichever event loop the program runs

        caller = _Caller(fields, self._environ, after)
        with self._lock:
            try:
                self._submit(event, part, caller)
            except RuntimeError:  # the pool is shut down: the program said that it is done
                return {}
        await to_thread.run_sync(caller.answered.wait, abandon_on_cancel=True)
        return caller.output

    def _submit(self, event: str, part: str, caller: _Caller) -> None:
        work = self._pool.submit(caller.run, event, part, self._data_dir)
        self._work = {known for known in self._work if not known.done()} | {work}


class _Session:
    """A session that was seen: what its events say of it, and whether it was given what its start gives."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self.has_begun = False
        self.given = {part: threading.Event() for part in PARTS}
        self._taken: set[str] = set()

    def take(self, part: str) -> bool:
        """Whether this part is still to be given. It is given once."""
        if self.has_begun or part in self._taken:
            return False
        self._taken.add(part)
        return True

    def wait_until_given(self) -> None:
        """Wait for those parts that are being given."""
        for part in self._taken:
            self.given[part].wait(TIMEOUTS["SessionStart"])


class _Caller(Client):
    """The client as it stands behind the SDK: it gave an object, and waits for one."""

    def __init__(self, fields: Fields, environ: Mapping[str, str], after: _Session | None = None) -> None:
        self._fields = fields
        self._environ = environ
        self._after = after
        self.answered = threading.Event()
        self.output: dict[str, Any] = {}

    def run(self, event: str, part: str, data_dir: str) -> None:
        """Handle the event; whatever happens, who waits is answered."""
        try:
            if self._after is not None:
                self._after.wait_until_given()
            run(event, part, data_dir, client=self)
        finally:
            self.answered.set()

    @property
    def environ(self) -> Mapping[str, str]:
        return self._environ

    def hear(self) -> bytes:
        return dump_ascii_json(dict(self._fields)).encode()

    def tell(self, output: str) -> None:
        self.output = parse_json(output) if output.startswith("{") else {"systemMessage": output}

    def refuse(self, reason: str) -> None:
        self.output = {"decision": "block", "reason": reason}

    def let_go_on(self) -> None:
        self.answered.set()


def _as_event(event: str, output: dict[str, Any]) -> dict[str, Any]:
    """The output of a hook as that of another event."""
    specific = output.get("hookSpecificOutput")
    return {**output, "hookSpecificOutput": {**specific, "hookEventName": event}} if specific else output
