"""Archive a long output durably, and then answer the client with its short form.

The archive has the only complete copy, because the transcript gets the short form. If the output cannot be archived for
certain, it passes unchanged.
"""

from __future__ import annotations

from zlib import adler32, crc32

from unified_state.archive.archive import Archive
from unified_state.archive.cut_outputs import (
    Output,
    archive_output,
    note_shortened,
    shortened_since,
    was_shortened,
)
from unified_state.archive.sessions import touch_session
from unified_state.context.context_table import newest_cut
from unified_state.extras.lean.rules.answer_shapes import with_text
from unified_state.extras.lean.rules.cut_marks import with_handle
from unified_state.lib.json_text import dump_ascii_json, dump_json
from unified_state.model.hook_event import HookEvent
from unified_state.model.step import ShortForm
from unified_state.project.workspace.workspace import Workspace

EVENT = "PostToolUse"
_HOW_TO = (
    "[LEAN CONTEXT] Long tool outputs are shortened from here on. The first line of such an output has its ref: "
    "`{program} show {ref} --lines 200:260` or `--grep REGEX` prints parts of the whole, without either all of it. "
    "The same call with the same output again gives it whole, too."
)


def archive_and_shorten(
    workspace: Workspace, event: HookEvent, whole: str, short: ShortForm, *, level: int, now: int, program: str
) -> str:
    """Archive an output, and return the answer that replaces it by the short form.

    Returns "" if the output passes unchanged: it was shortened before, or a masked secret of several lines would shift
    its line numbers.
    """
    kept = workspace.masker.text(whole)
    if kept is not whole and kept.count("\n") != whole.count("\n"):
        return ""
    made = Output(
        tool_use_id=event.text("tool_use_id"),
        agent=event.agent_id or None,
        at=now,
        text=kept,
        digest=_digest(event, whole),
    )

    def action(archive: Archive) -> str:
        with archive.transaction():
            worktree = workspace.place.repository.worktree
            session = touch_session(archive, event.session_id, now, worktree=worktree)
            if was_shortened(archive, session, made.digest):
                return ""
            is_told = shortened_since(archive, session, made.agent, newest_cut(archive, session)[1])
            step = archive_output(archive, session, event.session_id, made)
            text = with_handle(short, f"S{step}")
            note_shortened(archive, session, step, made, level=level, shown=len(text))
        return _answer(event, text, "" if is_told else _HOW_TO.format(program=program, ref=f"S{step}"))

    return workspace.use(action)


def _answer(event: HookEvent, text: str, told: str) -> str:
    replaced = with_text(event.text("tool_name"), event.extra["tool_response"], text)
    context = {"additionalContext": told} if told else {}
    return dump_ascii_json({"hookSpecificOutput": {"hookEventName": EVENT, "updatedToolOutput": replaced, **context}})


def _digest(event: HookEvent, text: str) -> int:
    """Return a checksum of the call and its output.

    After a collision an output would only be shown in full. The model's description of a command is not included,
    because it varies between equal calls.
    """
    given = {name: value for name, value in event.extra["tool_input"].items() if name != "description"}
    call = f"{event.text('tool_name')}\n{dump_json(given)}\n".encode("utf-8", "surrogatepass")
    data = text.encode("utf-8", "surrogatepass")
    return crc32(data, crc32(call)) << 31 ^ adler32(data, adler32(call))
