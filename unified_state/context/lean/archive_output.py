"""The second half of lean context: an output that has a short form is archived whole, durably, and only then is the
client answered with the short form.

It exists nowhere else afterwards, since the transcript has the short form. Where it cannot be archived for certain it
goes on as it is.
"""

from __future__ import annotations

from zlib import adler32, crc32

from unified_state.context.lean.rules.answer_shapes import with_text
from unified_state.context.window.context_table import newest_cut
from unified_state.lib.stdlib import dump_ascii_json, dump_json
from unified_state.memory.archive.cut_outputs import (
    Output,
    archive_output,
    note_shortened,
    shortened_since,
    was_shortened,
)
from unified_state.memory.archive.rules.cut_marks import with_handle
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.workspace.own_program import own_program
from unified_state.memory.workspace.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.long_output import Leaning, LongOutput
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.hook_event import HookEvent
    from unified_state.model.step import Shortened

EVENT = "PostToolUse"
_LOCK_SECONDS = 2.0
_HOW_TO = (
    "[LEAN CONTEXT] Long tool outputs are shortened from here on. The first line of such an output has its ref: "
    "`{program} recall {ref} --lines 200:260` or `--grep REGEX` prints parts of the whole, without either all of it. "
    "The same call with the same output again gives it whole, too."
)


def archive_and_shorten(output: LongOutput, short: Shortened, level: int, leaning: Leaning) -> str:
    """Archive the output; the answer that puts the short form in its place. Empty where it goes on as it is."""
    event, workspace = output.event, _workspace(leaning, output.event)
    program = own_program(leaning.environ)
    kept = workspace.masker.text(output.text)
    is_as_long = kept is output.text or kept.count("\n") == output.text.count("\n")
    if program is None or not is_as_long:
        return ""  # no way to recall it; or a secret of several lines, so that its lines would be counted otherwise
    made = Output(
        tool_use_id=event.text("tool_use_id"),
        agent=event.agent_id or None,
        at=leaning.now,
        text=kept,
        digest=_digest(event, output.text),
    )

    def action(archive: Archive) -> str:
        with archive.transaction():
            worktree = leaning.place.repository.worktree
            session = touch_session(archive, event.session_id, leaning.now, worktree=worktree)
            if was_shortened(archive, session, made.digest):
                return ""
            is_told = shortened_since(archive, session, made.agent, newest_cut(archive, session)[1])
            step = archive_output(archive, session, event.session_id, made)
            text = with_handle(short, f"S{step}")
            note_shortened(archive, session, step, made, level=level, shown=len(text))
        return _answer(event, text, "" if is_told else _HOW_TO.format(program=program, ref=f"S{step}"))

    return workspace.use(action)


def _workspace(leaning: Leaning, event: HookEvent) -> Workspace:
    return Workspace(
        leaning.place, leaning.settings, report=leaning.report, session_id=event.session_id, seconds=_LOCK_SECONDS
    )


def _answer(event: HookEvent, text: str, told: str) -> str:
    replaced = with_text(event.text("tool_name"), event.extra["tool_response"], text)
    context = {"additionalContext": told} if told else {}
    return dump_ascii_json({"hookSpecificOutput": {"hookEventName": EVENT, "updatedToolOutput": replaced, **context}})


def _digest(event: HookEvent, text: str) -> int:
    """A number for the call and its output; that of another would only be given whole. What a model says of a command
    is no part of it: it says something else each time.
    """
    given = {name: value for name, value in event.extra["tool_input"].items() if name != "description"}
    call = f"{event.text('tool_name')}\n{dump_json(given)}\n".encode("utf-8", "surrogatepass")
    data = text.encode("utf-8", "surrogatepass")
    return crc32(data, crc32(call)) << 31 ^ adler32(data, adler32(call))
