"""The hook: one event of the client in, at most one text out, exit 0.

Whatever happens, the user's prompt goes on: this is the one place that catches everything, writes it to the log and to
the health of the repository, and still exits 0. Exit 2 would block, so it is only ever given when the user asked for
that. Only the handler that an event needs is imported.
"""

from __future__ import annotations

import os
import sys
import time

from unified_state.errors import CompactionRefusedError, StorageError, TierError, UnifiedStateError
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.lib.stdlib import dump_ascii_json
from unified_state.memory.workspace.workspace import UNAVAILABLE, Workspace
from unified_state.model.hook_event import HOST_MARK, UNNAMED_HOST
from unified_state.settings import default_data_dir, environment, load_hook_settings
from unified_state.upkeep.merge.merge_and_settle import merge_and_settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.hook_event import HookEvent

    Handler = Callable[[HookCall, Archive], str]

_STDIN_SECONDS = 5.0
_LOCK_SECONDS = 4.0
# For taking in what was kept elsewhere while the archive could not be used; a prompt does not wait for that.
_MERGE_SECONDS = {"SessionStart": 3.0, "Stop": 5.0, "SubagentStop": 5.0, "PreCompact": 30.0}
_CONTEXT_EVENTS = ("SessionStart", "UserPromptSubmit", "SubagentStart")
EVENTS = (*_CONTEXT_EVENTS, "Stop", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd")
BLOCKED = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `EVENT [PART] [DATA_DIR]` of the process's arguments, and leave the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    status = run(arguments[0] if arguments else "", *arguments[1:3])
    os._exit(status)  # tearing the interpreter down takes 2 ms, and everything is closed


def run(event_name: str, part: str = "", data_dir: str = "") -> int:
    """Handle one event; the exit status."""
    if event_name == "PreToolUse":
        from unified_state.interfaces.hook_tool_use import run as check_tool_use  # by hand; else a process of its own

        return check_tool_use(data_dir)
    if event_name == "PostToolUse":
        from unified_state.interfaces.hook_tool_output import run as look_at_output  # the same

        return look_at_output(part, data_dir)
    return finish(Run(event_name, part, data_dir or default_data_dir()))


def finish(call: Run) -> int:
    """Let a run handle its event, whatever happens; the exit status."""
    try:
        return call.handle()
    except CompactionRefusedError as error:
        print(error, file=sys.stderr)  # noqa: T201  # the client shows it with the refusal
        return BLOCKED
    except UnifiedStateError as error:
        call.problem = str(error)
    except BaseException as error:  # noqa: BLE001  # the hook's edge: nothing of ours may fail the user's turn
        import traceback

        call.problem, call.details = f"{type(error).__name__}: {error}", traceback.format_exc()
    finally:
        call.leave_trace()
    return 0


class Run:
    """One run of the hook: what it found out about itself so far is what its trace says, wherever it ends."""

    def __init__(self, event_name: str, part: str, data_dir: str) -> None:
        self.started, self.now = time.monotonic(), int(time.time() * 1000)
        self.event_name, self.part, self.data_dir = event_name, part, data_dir
        self.folder: str | None = None
        self.problem: str | None = None
        self.details = ""
        self.went_on = False

    def handle(self) -> int:
        """Read the event, run its handler, print what it gives."""
        from unified_state.memory.repository.place import locate

        handler = _handler(self.event_name)
        event = self.read_event()
        if handler is None:
            self.problem = f"there is no handler for the event {self.event_name!r}"
            return 0
        if self.part and self.part not in _parts():
            self.problem = f"there is no part {self.part!r} of the event {self.event_name}"
            return 0
        folder = event.cwd if os.path.isdir(event.cwd) else os.getcwd()
        place = locate(folder, self.data_dir, create=False)
        settings = load_hook_settings(
            place.repository.worktree, os.path.join(place.folder, "settings.json"), self.data_dir, self.environ()
        )
        if not settings.enabled:
            return 0
        try:
            place = place if place.is_settled else locate(folder, self.data_dir, create=True)
        except StorageError as error:
            if self.name() == "SessionStart.brief" and not event.is_foreign:  # no restore could tell it
                self.tell(dump_ascii_json({"systemMessage": f"unified-state: {error}"}))
            raise
        self.folder = place.folder
        workspace = Workspace(
            place,
            settings,
            report=self._report,
            session_id=event.session_id,
            seconds=_LOCK_SECONDS,
            merge_seconds=_MERGE_SECONDS.get(self.event_name, 0.0),
            around_use=merge_and_settle,
        )
        call = self._call(event, workspace)
        output = self.kept(handler, call)
        if output:
            self.tell(self.written(output, call))
        return 0

    def kept(self, handler: Handler, call: HookCall) -> str:
        """What the handler gives. Without an archive that can be used now the event is served over a journal, so that
        it is not lost.
        """
        try:
            return call.workspace.use(lambda archive: self.answer(handler, call, archive))
        except (TierError, *UNAVAILABLE) as error:
            self.problem = str(error)
            from unified_state.interfaces.hooks.serve_beside import serve_beside

            return serve_beside(call, error, lambda archive: self.answer(handler, call, archive))

    def _call(self, event: HookEvent, workspace: Workspace) -> HookCall:
        return HookCall(
            event,
            workspace,
            part=self.part,
            environ=self.environ(),
            now=self.now,
            started=self.started,
            let_client_go_on=lambda: self.let_client_go_on(event),
        )

    def environ(self) -> Mapping[str, str]:
        """The environment that the client gave its hook."""
        return environment()

    def tell(self, answer: str) -> None:
        """Let the client have the answer."""
        sys.stdout.buffer.write(answer.encode("utf-8", "replace"))  # whatever the locale says
        sys.stdout.flush()

    def let_client_go_on(self, event: HookEvent) -> None:
        """Tell the client, in a line of its own, that it need not wait for the end of this process."""
        if not (event.is_foreign or self.went_on):  # only Claude Code knows the sign
            self.went_on = True
            os.write(sys.stdout.fileno(), b'{"async":true}\n')

    def read_event(self) -> HookEvent:
        """What the client says. A session of another host must not be taken for one of Claude Code."""
        event = self.told_event()
        if event.is_foreign and event.session_id:
            return event.replace(session_id=f"{UNNAMED_HOST}{HOST_MARK}{event.session_id}")
        return event

    def told_event(self) -> HookEvent:
        """What stands on stdin; what is wrong with it is this run's problem."""
        from unified_state.interfaces.tool_hook import parse_event, read_stdin

        event, self.problem = parse_event(read_stdin(sys.stdin.fileno(), _STDIN_SECONDS), self.event_name)
        return event

    def answer(self, handler: Handler, call: HookCall, archive: Archive) -> str:
        """What the handler gives."""
        return handler(call, archive)

    def written(self, output: str, call: HookCall) -> str:
        """The answer as the client wants it."""
        if self.event_name in _CONTEXT_EVENTS:
            context = {"hookEventName": self.event_name, "additionalContext": output}
            message = {"systemMessage": call.message} if call.message else {}
            return dump_ascii_json({"hookSpecificOutput": context, **message})
        return "" if call.event.is_foreign else output  # only Claude Code takes plain text

    def name(self) -> str:
        """The name under which this run leaves its trace."""
        return f"{self.event_name}.{self.part}" if self.part else self.event_name

    def leave_trace(self) -> None:
        """Write down that the hook ran, and what went wrong. Where even that fails there is only stderr left."""
        from unified_state.memory.repository.health import HookRun, log_problem, note_run
        from unified_state.memory.secrets.rules.mask import mask_text

        # A message may quote what was being archived.
        problem, details = (mask_text(text, _no_tag) for text in (self.problem or "", self.details))
        try:
            if self.folder is not None:
                spent = round((time.monotonic() - self.started) * 1000)
                note_run(self.folder, HookRun(self.name(), self.now, spent, problem or None))
            if problem:
                log_problem(self.data_dir, self.now, self.event_name, problem, details)
        except OSError as error:
            print(f"unified-state: {problem or error}", file=sys.stderr)  # noqa: T201

    def _report(self, line: str) -> None:
        self.problem = line


def _no_tag(_secret: str) -> str:
    return "in-log"


def _parts() -> tuple[str, ...]:
    from unified_state.model.hook_event import PARTS

    return PARTS


def _handler(event_name: str) -> Handler | None:
    match event_name:
        case "UserPromptSubmit":
            from unified_state.interfaces.hooks.user_prompt_submit import on_user_prompt_submit as handler
        case "SessionStart":
            from unified_state.interfaces.hooks.session_start import on_session_start as handler
        case "SessionEnd":
            from unified_state.interfaces.hooks.session_start import on_session_end as handler
        case "Stop":
            from unified_state.interfaces.hooks.stop import on_stop as handler
        case "SubagentStart":
            from unified_state.interfaces.hooks.subagent_start import on_subagent_start as handler
        case "SubagentStop":
            from unified_state.interfaces.hooks.stop import on_subagent_stop as handler
        case "PreCompact":
            from unified_state.interfaces.hooks.pre_compact import on_pre_compact as handler
        case "PostCompact":
            from unified_state.interfaces.hooks.pre_compact import on_post_compact as handler
        case _:
            return None
    return handler
