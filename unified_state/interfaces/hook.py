"""The hook: read one event of the client, write at most one text, exit with status 0.

The user's prompt continues in every case. A failure is logged and recorded in the health of the repository. Exit status
2 would block, so a hook returns it only if the user configured that. Only the handler of the event is imported.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from unified_state.archive.archive import Archive
from unified_state.errors import CompactionRefusedError, StorageError, UsageError
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.interfaces.tool_hook import Run, given, limit_time, parse_event, tell, warn
from unified_state.lib.fence import visible
from unified_state.lib.json_text import dump_ascii_json
from unified_state.model.constraint import SKILL_EVENT, TOOL_EVENT
from unified_state.model.hook_event import CALLS_EVENT, HOST_MARK, UNNAMED_HOST, HookEvent, Moment
from unified_state.project.place import Place, hook_settings, keep_project, locate, session_project
from unified_state.project.workspace.workspace import UNAVAILABLE, Workspace
from unified_state.settings import PROJECT_FILE, Settings, environment
from unified_state.upkeep.around_use import SETTLE

Handler = Callable[[HookCall, Archive], str]

_LOCK_SECONDS = 4.0
# Seconds after which a hook captures nothing more. For other events a prompt waits for the time in the settings. The
# client's default for SessionEnd is one and a half seconds.
_SECONDS = {"SessionStart": 2.0, "Stop": 20.0, "SubagentStop": 20.0, "PreCompact": 60.0, "SessionEnd": 1.0}
# Seconds for repairs of a damaged archive. A prompt does not wait for that.
_REPAIR_SECONDS = {"SessionStart": 3.0, "Stop": 5.0, "SubagentStop": 5.0, "PreCompact": 30.0}
_BRIEF = "SessionStart.brief"
_CONTEXT_EVENTS = ("SessionStart", "UserPromptSubmit", "SubagentStart")
_NOTING = ("Stop", "SessionEnd")
_KEEPING = ("SessionStart", "UserPromptSubmit", "PreCompact")  # Stop may still work when the session has ended
EVENTS = (*_CONTEXT_EVENTS, "Stop", "SubagentStop", "PreCompact", CALLS_EVENT, "SessionEnd")
BLOCKED = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `EVENT [PART] [DATA_DIR]` of the process's arguments, and exit the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    limit_time(arguments[0] if arguments else "")
    status = run(arguments[0] if arguments else "", *arguments[1:3])
    os._exit(status)  # skips the interpreter's teardown of 2 ms; everything is closed


def run(event_name: str, part: str = "", data_dir: str = "") -> int:
    """Handle one event and return the exit status."""
    if event_name in (TOOL_EVENT, SKILL_EVENT):
        from unified_state.interfaces.hook_tool_use import (
            run as check_tool_use,
        )  # called by hand; usually a separate process

        return check_tool_use(data_dir)
    if event_name == "PostToolUse":
        from unified_state.interfaces.hook_tool_output import run as look_at_output  # likewise

        return look_at_output(part, data_dir)
    return HookRun(event_name, part, data_dir).run()


class HookRun(Run):
    """One run of the hook: parse the event, open its repository, handle it, answer the client."""

    has_told = False

    def __init__(self, event_name: str, part: str, data_dir: str, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(event_name, data_dir, f"{event_name}.{part}" if part else event_name)
        self.part = part
        self.environ = environment() if environ is None else environ
        self.project = ""  # the folder of the session's project
        self.status = 0

    def run(self) -> int:
        """Handle the event and return the exit status. It raises nothing."""
        self.attempt(self._run)
        if self.is_late and self.name == _BRIEF and not self.has_told:
            self.tell(dump_ascii_json({"systemMessage": f"unified-state: nothing was restored: {self.problem}"}))
        self.leave_trace()
        return self.status

    def _run(self) -> str:
        event = self.parse()
        found = self._find(event)
        if found is None:
            return ""
        self.handler = _handler(self.event_name)
        call = self.open(event, *found)
        output = self.handle(call)
        if output or call.message or call.reply:
            self.tell(self.answer(output, call))
        if self.event_name in _NOTING and self.problem is None:
            from unified_state.interfaces.hooks.stop import note_if_quiet

            call.workspace.use(lambda archive: note_if_quiet(call, archive))
        return ""

    def read(self) -> bytes:
        """Read the client's input."""
        return given()

    def tell(self, answer: str) -> None:
        """Send the answer to the client."""
        self.has_told = True
        if not tell(answer):
            self.report("stdout is closed or full, so the client got no answer")

    def parse(self) -> HookEvent:
        """Return the event. A session id of an unnamed host gets a prefix that separates it from Claude Code's."""
        event, self.problem = parse_event(self.read(), self.event_name)
        if event.is_foreign and event.session_id:
            return event.replace(session_id=f"{UNNAMED_HOST}{HOST_MARK}{event.session_id}")
        return event

    def _find(self, event: HookEvent) -> tuple[Place, Settings] | None:
        """Return the place of the session's project and its settings, or None if the user disabled us."""
        begins = self.event_name == "SessionStart" and event.text("source") != "compact"
        session = None if begins else event.session_id
        self.project = session_project(session, self.environ, self.data_dir, event.cwd) or os.getcwd()
        place = locate(self.project, self.data_dir, create=False, shell=event.cwd)
        settings = hook_settings(place, self.data_dir, self.environ)
        if not settings.enabled and self.name == _BRIEF and settings.origin["enabled"].endswith(PROJECT_FILE):
            line = f"unified-state: nothing is archived here: enabled = false in {PROJECT_FILE}"
            self.tell(dump_ascii_json({"systemMessage": line}))
        return (place, settings) if settings.enabled else None

    def open(self, event: HookEvent, place: Place, settings: Settings) -> HookCall:
        """Return the call in the repository of the session's project."""
        place = place if place.is_settled else self._settled(event)
        self.folder = place.folder
        if self.event_name in _KEEPING and not event.agent_id:
            keep_project(event.session_id, self.project, place, self.data_dir)
        workspace = Workspace(
            place,
            settings,
            report=self.report,
            session_id=event.session_id,
            seconds=_LOCK_SECONDS,
            repair_seconds=_REPAIR_SECONDS.get(self.event_name, 0.0),
            around_use=SETTLE,
        )
        until = self.started + _SECONDS.get(self.event_name, settings.prompt_milliseconds / 1000)
        return HookCall(
            event,
            workspace,
            Moment(self.now, workspace.head, lambda: time.monotonic() < until),
            part=self.part,
            environ=self.environ,
        )

    def _settled(self, event: HookEvent) -> Place:
        try:
            return locate(self.project, self.data_dir, create=True, shell=event.cwd)
        except StorageError as error:
            if self.name == _BRIEF and not event.is_foreign:  # no restore reports it
                self.tell(dump_ascii_json({"systemMessage": f"unified-state: {visible(str(error))}"}))
            raise

    def handle(self, call: HookCall) -> str:
        """Return the handler's output. While the archive cannot be used, the event waits for it."""
        try:
            return call.workspace.use(lambda archive: self.serve(call, archive))
        except UNAVAILABLE as error:
            self.problem = str(error)
            from unified_state.interfaces.hooks.keep_event import keep_event

            return keep_event(call, error)

    def serve(self, call: HookCall, archive: Archive) -> str:
        """Return the handler's output for an open archive."""
        try:
            return self.handler(call, archive)
        except CompactionRefusedError as error:
            return self.refuse(error)

    def refuse(self, error: CompactionRefusedError) -> str:
        """Refuse the compaction. Return the output, if the client reads the reason there."""
        warn(str(error))  # the client shows it with the refusal
        self.status = BLOCKED
        return ""

    def answer(self, output: str, call: HookCall) -> str:
        """Return the output in the client's format."""
        if call.reply:
            return dump_ascii_json({"decision": "block", "reason": call.reply})
        if self.event_name in _CONTEXT_EVENTS:
            context = {"hookEventName": self.event_name, "additionalContext": output}
            told = {"hookSpecificOutput": context} if output else {}
            return dump_ascii_json({**told, "systemMessage": call.message} if call.message else told)
        return "" if call.event.is_foreign else output  # only Claude Code accepts plain text


def _handler(event_name: str) -> Handler:
    match event_name:
        case "UserPromptSubmit":
            from unified_state.interfaces.hooks.user_prompt_submit import on_user_prompt_submit as handler
        case "SessionStart":
            from unified_state.interfaces.hooks.session_start import on_session_start as handler
        case "SessionEnd":
            from unified_state.interfaces.hooks.session_start import on_session_end as handler
        case "Stop":
            from unified_state.interfaces.hooks.stop import on_stop as handler
        case "PostToolBatch":
            from unified_state.interfaces.hooks.stop import on_tool_batch as handler
        case "SubagentStart":
            from unified_state.interfaces.hooks.subagent_start import on_subagent_start as handler
        case "SubagentStop":
            from unified_state.interfaces.hooks.stop import on_subagent_stop as handler
        case "PreCompact":
            from unified_state.interfaces.hooks.pre_compact import on_pre_compact as handler
        case _:
            message = f"there is no handler for the event {event_name!r}"
            raise UsageError(message)
    return handler
