"""UserPromptSubmit: archive new steps, and record what the user marked. After a compaction, add the restore that did
not reach the model, and what the archive knows about the prompt.
"""

from __future__ import annotations

import re

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Compaction, Restore, latest_compaction, restores_of
from unified_state.archive.sessions import turns_since, waiting_for_prompt
from unified_state.errors import UnifiedStateError
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.lib.text import utf16_units
from unified_state.model.constraint import USER_SAID
from unified_state.model.hook_event import PARTS
from unified_state.model.step import PROMPT

COMMAND = re.compile(r"/(?:unified-state:)?context-compact(?:\s.*)?", re.DOTALL)
_MOST_UNITS = 9_900  # limit of one output, below the client's 10,000
_SHORT_UNITS = 4_500  # limit of other texts next to a restore
_MOST_TRIES = 3
TURNS_TOO_LATE = 2  # /compact itself opens a turn; a later restore is no longer useful


def on_user_prompt_submit(call: HookCall, archive: Archive) -> str:
    """Archive new steps, record what the user marked, and return the additions to the prompt."""
    call.capture(archive, postpones=True)
    if COMMAND.fullmatch(call.event.text("prompt").strip()) and not call.event.is_foreign and call.is_enforced:
        from unified_state.interfaces.hooks.pre_compact import compact_reply

        call.reply = compact_reply(call, archive)
        return ""
    call.keep(archive, PROMPT, call.event.text("prompt"))
    session = call.registered(archive)
    if call.event.agent_id:
        return ""
    call.message = _take_marked(call, archive)
    return _with(_additions(call, archive, session), call.message)


def _take_marked(call: HookCall, archive: Archive) -> str:
    """Record the words that the user marked, and return a line about each. What no person typed is left to the turn's
    end, which proposes it.
    """
    event, prompt = call.event, call.event.text("prompt")
    if ":" not in prompt and prompt.lstrip()[:6].lower() not in ("accept", "reject"):
        return ""
    from unified_state.capture.rules.marked_words import decided_refs, marks_in

    (verb, refs), (own, doubtful) = decided_refs(prompt), marks_in(call.workspace.masker.typed(prompt))
    if not (refs or own or doubtful) or event.is_foreign or not call.is_enforced:
        return ""
    from unified_state.ledger.gate import is_typed_by_user

    if not is_typed_by_user(call.environ):
        return ""
    from unified_state.capture.record_marked import decide, record_marked
    from unified_state.state_file.writer.record_state import refresh_state

    author = call.workspace.author().replace(origin=USER_SAID, session_id=event.session_id)
    lines = record_marked(archive, own, author, call.now)
    if refs:
        lines.append(decide(archive, verb, refs, event.session_id, call.now))
    try:
        refresh_state(archive, call.workspace, call.now)
    except UnifiedStateError as error:  # the ledger has it
        call.workspace.report(f"recorded, but {error}")
    lines += [f"[NOT RECORDED] {mark.word}: it may be pasted; a prompt of its own records it" for mark in doubtful]
    return "\n".join(lines)


def _additions(call: HookCall, archive: Archive, session: int) -> str:
    output = _after_compaction(call, archive, session)
    if utf16_units(output) > _MOST_UNITS - _SHORT_UNITS:
        return output  # the rest follows with the next prompt
    has_news, has_line = waiting_for_prompt(archive, session)
    if has_news:
        from unified_state.restore.other_sessions import decided_elsewhere

        repository = call.workspace.place.repository
        news = decided_elsewhere(archive, repository, session, call.now, is_enforced=call.is_enforced)
        output = _with(output, news)
    if has_line:
        from unified_state.context.context_table import take_line

        output = _with(output, take_line(archive, session))
    return output


def _after_compaction(call: HookCall, archive: Archive, session: int) -> str:
    """Return the additions to a prompt after a compaction: what the archive knows about it.

    Soon after it also the parts of the restore that never arrived, because by now the boundary is in the transcript.
    """
    compaction = latest_compaction(archive, session)
    if compaction is None or compaction.boundary_at is None:
        return ""
    tried = restores_of(archive, compaction.id)
    missing = [part for part in PARTS if _is_missing([restore for restore in tried if restore.part == part])]
    is_soon = turns_since(archive, session, compaction.boundary_at) <= TURNS_TOO_LATE
    output = _restored_again(call, archive, session, missing) if missing and is_soon else ""
    told = "\n".join([compaction.summary or "", *(restore.text for restore in tried), output])
    return _with(output, _relevant(call, archive, session, compaction, told))


def _is_missing(tried: list[Restore]) -> bool:
    return len(tried) < _MOST_TRIES and all(restore.delivered_at is None for restore in tried)


def _relevant(call: HookCall, archive: Archive, session: int, compaction: Compaction, told: str) -> str:
    from unified_state.model.known import RELEVANT
    from unified_state.restore.fenced_text import fence_and_remember
    from unified_state.restore.relevant_turns import relevant_turns

    text = relevant_turns(
        archive, call.event.text("prompt"), call.now, before=compaction.kept_at or compaction.boundary_at, told=told
    )
    return fence_and_remember(archive, session, RELEVANT, text, call.now, compaction.id) if text else ""


def _with(output: str, more: str) -> str:
    """Return both texts, if they fit into one output."""
    both = f"{output}\n{more}" if output and more else output or more
    return both if utf16_units(both) < _MOST_UNITS else output


def _restored_again(call: HookCall, archive: Archive, session: int, missing: list[str]) -> str:
    from unified_state.restore.compose_restore import gather, restored_text, with_enforcement
    from unified_state.restore.fenced_text import fence_and_remember

    known = gather(archive, call.workspace.place, session, "prompt", call.now)
    known = with_enforcement(known, is_enforced=call.is_enforced)
    texts = restored_text(known, call.settings).as_dict()
    output = ""
    for part in missing:
        if not texts[part]:
            continue
        fenced = fence_and_remember(archive, session, part, texts[part], call.now, known.compaction)
        output = _with(output, fenced)
    return output
