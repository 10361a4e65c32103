"""PreCompact, and the compaction's own SubagentStop: archive everything, guide the summary, store and judge it.

PreCompact archives to the end, saves the state with git, and prints the items that the summary should contain. Between
it and SessionStart(compact) the client sends a SubagentStop with an empty agent type whose last message is the raw
summary.
"""

from __future__ import annotations

import os

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import begin_compaction, keep_summary, restart_compaction
from unified_state.archive.session_work import change_work
from unified_state.errors import ArchiveUnavailableError, CompactionRefusedError, StorageError
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.ledger.item_table import ACTIVE, stated_items
from unified_state.model.session_state import GitState, State
from unified_state.project.git_state import read_git
from unified_state.restore.rules.summary_guidance import SHOWN, compact_answer, keep_list
from unified_state.restore.work_in_short import work_in_short
from unified_state.state_file.writer.record_state import refresh_state
from unified_state.state_file.writer.save_state import save_state

_TRIGGER = "precompact"


def on_pre_compact(call: HookCall, archive: Archive) -> str:
    """Return the addition to the client's compaction instructions: plain text, or ""."""
    call.capture(archive)
    git = read_git(call.workspace.place.repository.worktree, call.environ)
    with archive.transaction(durable=False):  # the checkpoint has its own transaction
        restart_compaction(archive, call.session(archive), call.now, call.trigger)
    state = save_checkpoint(call, archive, _TRIGGER, git)
    refuse_if_asked(call, state)
    if not call.settings.steer_summary:
        return ""
    items, nonce = stated_items(archive, [ACTIVE]), os.urandom(6).hex()
    if call.trigger == "manual":
        return keep_list(items, state, min(SHOWN, call.settings.steer_bytes), nonce, call.now)
    work = work_in_short(archive, call.session(archive))
    return keep_list(items, state, call.settings.steer_bytes, nonce, call.now, work)


def compact_reply(call: HookCall, archive: Archive) -> str:
    """Save the state, and return the answer to `/context-compact`: what comes back, and the line that compacts."""
    state = save_checkpoint(call, archive, "manual", read_git(call.workspace.place.repository.worktree, call.environ))
    asked = call.workspace.masker.typed(call.event.text("prompt")).strip().partition(" ")[2]
    return compact_answer(stated_items(archive, [ACTIVE]), state, call.now, asked)


def on_summary(call: HookCall, archive: Archive) -> str:
    """Store the raw summary, then judge it and record its reports: the first does not depend on the second. Of several
    summaries the last one counts, because the client uses that one.
    """
    text = summary_part(call.event.text("last_assistant_message"))
    if not text:
        return ""
    from unified_state.capture.take_summary import (
        take_in,  # the matcher's tables, needed only for a summary
    )

    text = call.workspace.masker.text(text)
    with archive.transaction():
        compaction = begin_compaction(archive, call.session(archive), call.now, call.trigger)
        keep_summary(archive, compaction, text)
    with archive.transaction():
        added = take_in(archive, compaction, text, call.now)
    if added:
        refresh_state(archive, call.workspace, call.now)
    return ""


def summary_part(message: str) -> str:
    """Return the part of the answer that reaches the model: `<summary>`, or the whole text without such a tag."""
    begin = message.find("<summary>")
    if begin < 0:
        return message.strip()
    end = message.rfind("</summary>")
    return message[begin + len("<summary>") : end if end > begin else None].strip()


def refuse_if_asked(call: HookCall, state: State | None) -> None:
    """Refuse a manual compaction if the user enabled that. Refusing an automatic one would make the user's request
    fail.
    """
    if state is None:
        return
    over = state.token_metrics.budget_status == "over_budget"
    may_refuse = (
        call.settings.block_compaction and not call.event.is_foreign
    )  # exit 2 has another meaning in other hosts
    if may_refuse and over and call.trigger == "manual":
        message = f"the state has {state.token_metrics.estimated_tokens} tokens, over its budget"
        raise CompactionRefusedError(message, "resolve or supersede items first, or set block_compaction = false")


def save_checkpoint(call: HookCall, archive: Archive, trigger: str, git: GitState) -> State | None:
    """Record the git state of the session, write the state file, and return the state in it; None if the file cannot be
    written.
    """
    with archive.transaction():
        change_work(archive, call.session(archive), {"branch": git.branch, "commit": git.commit})
    try:
        return save_state(archive, call.workspace, call.now, trigger, git)
    except ArchiveUnavailableError:
        raise
    except StorageError as error:
        call.workspace.report(str(error))
        return None
