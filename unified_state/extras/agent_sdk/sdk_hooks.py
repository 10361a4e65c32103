"""The hooks as Python functions of an SDK program. Each runs in a thread and does what the command of its event does.

Invariant: no hook raises into the agent, every call is answered, and the event loop never waits for the archive. The
client calls no Python function when it starts. So the first prompt adds the output of SessionStart, and `end()`
replaces SessionEnd.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from unified_state.errors import CompactionRefusedError
from unified_state.hosts.install.hook_table import LONG_OUTPUTS, OUTPUT_EVENT
from unified_state.interfaces.hook import HookRun
from unified_state.interfaces.hook_tool_output import shortened
from unified_state.interfaces.hook_tool_use import check
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.model.constraint import TOOL_EVENT
from unified_state.model.hook_event import PARTS, TIMEOUTS, TOOL_TIMEOUT

if TYPE_CHECKING:
    from claude_agent_sdk import HookMatcher

Fields = Mapping[str, Any]
Callback = Callable[[Any, str | None, Any], Awaitable[Any]]


class Call:
    """One event that the client waits for, and its answer."""

    def __init__(self, fields: Fields, environ: Mapping[str, str]) -> None:
        self._fields = fields
        self.environ = environ
        self.answered = threading.Event()
        self.output: dict[str, Any] = {}

    def run(self, event: str, part: str, data_dir: str) -> None:
        """Handle the event. The waiting caller gets an answer in every case, at a turn's end before the work."""
        if event == "Stop" or (event == "SubagentStop" and self._fields.get("agent_type")):
            self.answered.set()  # the answer is empty; a compaction's own has no agent type
        try:
            if event == TOOL_EVENT:
                self.tell(check(self.as_json, data_dir, self.environ))
            elif event == OUTPUT_EVENT:
                self.tell(shortened(self.as_json, part, data_dir, self.environ))
            else:
                _CallRun(event, part, data_dir, self).run()
        finally:
            self.answered.set()

    def as_json(self) -> bytes:
        """Return the event as the client would write it to stdin."""
        return dump_ascii_json(dict(self._fields)).encode()

    def tell(self, answer: str) -> None:
        """Store the answer. Plain text, which only PreCompact returns, becomes a message to the client."""
        if answer:
            self.output = parse_json(answer) if answer.startswith("{") else {"systemMessage": answer}


class _CallRun(HookRun):
    """One run of the hook in this process."""

    def __init__(self, event_name: str, part: str, data_dir: str, call: Call) -> None:
        super().__init__(event_name, part, data_dir, call.environ)
        self._sdk_call = call

    def read(self) -> bytes:
        return self._sdk_call.as_json()

    def tell(self, answer: str) -> None:
        self._sdk_call.tell(answer)

    def refuse(self, error: CompactionRefusedError) -> str:
        return dump_ascii_json({"decision": "block", "reason": str(error)})


_THREADS = 4
_TIMEOUTS = {**TIMEOUTS, TOOL_EVENT: TOOL_TIMEOUT}
EVENTS = tuple(_TIMEOUTS)
_NAMED = ("session_id", "transcript_path", "cwd")  # the session fields of every event
_END_SECONDS = 10.0


class Hooks:
    """The hooks of one program, for all its sessions.

    `source` is the source that SessionStart would report: startup, resume or fork.
    """

    def __init__(self, folder: str, environ: Mapping[str, str], data_dir: str, source: str) -> None:
        # What the client gives a hook; a program that runs in another client's session has the variables of that one.
        self._environ = {name: value for name, value in environ.items() if name != "CLAUDE_PID"}
        self._environ["CLAUDE_PROJECT_DIR"] = folder
        self._data_dir = data_dir
        self._source = source
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="unified-state")
        self._lock = threading.Lock()
        self._caller: str | None = None
        self._sessions: dict[str, _Session] = {}
        self._work: set[Future[None]] = set()

    def matchers(self, left_out: Collection[str], tools: str, lean: str | None) -> dict[Any, list[HookMatcher]]:
        """Return the value for the SDK's `hooks`, without the events that are `left_out`.

        `tools` matches our own tools. `lean` is the level at which long tool outputs are shortened, None to keep them.
        """
        from claude_agent_sdk import HookMatcher

        def matcher(event: str, *callbacks: Callback) -> list[HookMatcher]:
            return [HookMatcher(hooks=[callback], timeout=_TIMEOUTS[event]) for callback in callbacks]

        found = {event: matcher(event, self._plain(event)) for event in EVENTS}
        found["SessionStart"] = matcher("SessionStart", *map(self._part, PARTS))
        found["UserPromptSubmit"] = matcher("UserPromptSubmit", *map(self._first, PARTS), self._prompt)
        if lean is not None:
            shortens = self._plain(OUTPUT_EVENT, lean)
            found[OUTPUT_EVENT] = [HookMatcher(matcher=LONG_OUTPUTS, hooks=[shortens], timeout=TOOL_TIMEOUT)]
        found = {event: matchers for event, matchers in found.items() if event not in left_out}
        calls = HookMatcher(matcher=tools, hooks=[self._called], timeout=TOOL_TIMEOUT)
        return {**found, TOOL_EVENT: [calls, *found.get(TOOL_EVENT, [])]}

    def session_id(self) -> str | None:
        """Return the session that last called one of our tools, if it is active."""
        return self._caller

    def end(self) -> None:
        """Finish the remaining work, and record the end of the sessions. Later events are ignored."""
        with self._lock:
            sessions, self._sessions = self._sessions, {}
            for session in sessions.values():
                self._submit("SessionEnd", "", Call({**session.fields, "reason": "other"}, self._environ))
            left = set(self._work)
            self._pool.shutdown(wait=False)
        wait(left, timeout=_END_SECONDS)

    async def _called(self, fields: Fields, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
        self._caller = str(fields.get("session_id") or "") or None
        return {}

    def _plain(self, event: str, part: str = "") -> Callback:
        async def callback(fields: Fields, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
            session = self._session(fields)
            if event == "SessionEnd":
                with self._lock:
                    self._sessions.pop(session.fields["session_id"], None)
            return await self._answer(event, part, fields)

        return callback

    def _part(self, part: str) -> Callback:
        """Return a hook for one text of a session that begins in a running client, after /clear or a compaction."""

        async def callback(fields: Fields, _tool_use_id: str | None, _context: Any) -> dict[str, Any]:
            self._session(fields).has_begun = True
            return await self._answer("SessionStart", part, fields)

        return callback

    def _first(self, part: str) -> Callback:
        """Return a hook for one text of a session that began with the client. Its first prompt adds the text."""

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
        """Handle the prompt itself.

        It waits for the texts of the start. They report what is new since the session's last entry, and the prompt's
        hook archives newer entries.
        """
        from anyio import to_thread

        await to_thread.run_sync(self._session(fields).wait_until_given, abandon_on_cancel=True)
        return await self._answer("UserPromptSubmit", "", fields)

    def _session(self, fields: Fields) -> _Session:
        known = {name: fields.get(name, "") for name in _NAMED}
        with self._lock:
            return self._sessions.setdefault(str(known["session_id"]), _Session(known))

    async def _answer(self, event: str, part: str, fields: Fields) -> dict[str, Any]:
        """Return the output of the hook. Its thread may work on for a while after the answer."""
        from anyio import to_thread  # from anyio, like the SDK, for every event loop

        call = Call(fields, self._environ)
        with self._lock:
            try:
                self._submit(event, part, call)
            except RuntimeError:  # the pool is shut down because the program has ended
                return {}
        await to_thread.run_sync(call.answered.wait, abandon_on_cancel=True)
        return call.output

    def _submit(self, event: str, part: str, call: Call) -> None:
        work = self._pool.submit(call.run, event, part, self._data_dir)
        self._work = {known for known in self._work if not known.done()} | {work}


class _Session:
    """A known session: its event fields, and the texts of its start that it already received."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self.has_begun = False
        self.given = {part: threading.Event() for part in PARTS}
        self._taken: set[str] = set()

    def take(self, part: str) -> bool:
        """Return whether this part must still be added, and mark it as added."""
        if self.has_begun or part in self._taken:
            return False
        self._taken.add(part)
        return True

    def wait_until_given(self) -> None:
        """Wait until the marked parts are added."""
        for part in tuple(self._taken):
            self.given[part].wait(TIMEOUTS["SessionStart"])


def _as_event(event: str, output: dict[str, Any]) -> dict[str, Any]:
    """Return the output of a hook in the form of another event."""
    specific = output.get("hookSpecificOutput")
    return {**output, "hookSpecificOutput": {**specific, "hookEventName": event}} if specific else output
