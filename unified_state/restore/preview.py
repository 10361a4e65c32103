"""Preview the text of a session start, from the archive or from a transcript. It changes nothing."""

from __future__ import annotations

import os
import tempfile
from copy import copy
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import newest_session, session_number
from unified_state.capture.capture_transcript import Capture
from unified_state.capture.ingest import read_head
from unified_state.capture.rules.presence import judge
from unified_state.errors import NotFoundError
from unified_state.ledger.item_table import ACTIVE, stated_items
from unified_state.lib.record import Record
from unified_state.lib.tokens import count_tokens
from unified_state.model.hook_event import BRIEF, PARTS, Moment
from unified_state.model.known import RELEVANT
from unified_state.project.workspace.workspace import Workspace
from unified_state.restore.compose_restore import gather, known_for_all, restored_text
from unified_state.restore.relevant_turns import relevant_turns
from unified_state.restore.rules.compose import compose
from unified_state.search.rules.query_dates import begin_of, times_of
from unified_state.search.timeline_table import sessions_called


class Preview(Record):
    """The texts of a restore by their parts, one for each hook output."""

    texts: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(text for _, text in self.texts)

    def measured(self) -> dict[str, Any]:
        """Return it for a program, with its size in o200k tokens, which takes longer to count than all the rest."""
        *sizes, tokens = count_tokens([*(text for _, text in self.texts), self.text])
        told = zip(self.texts, sizes, strict=True)
        parts = [{"part": part, "text": text, "tokens": size} for (part, text), size in told]
        return {"text": self.text, "tokens": tokens, "parts": parts}


def preview_restore(
    workspace: Workspace,
    now: int,
    *,
    transcript: str | None = None,
    summary: str | None = None,
    prompt: str | None = None,
    tokens: int | None = None,
) -> Preview:
    """Return the restore after a compaction now, with this `summary`. A `prompt` adds the turns that are relevant to
    it.
    """
    if tokens is not None:
        settings = copy(workspace.settings)
        settings.restore_tokens = tokens
        workspace = workspace.replace(settings=settings)
    if transcript is not None:
        return _of_transcript(workspace, now, transcript, summary, prompt)
    if workspace.is_empty:
        return Preview()
    return workspace.use(
        lambda archive: _preview(archive, workspace, _session(archive, workspace, now), now, summary, prompt)
    )


def _of_transcript(workspace: Workspace, now: int, path: str, summary: str | None, prompt: str | None) -> Preview:
    """Capture the transcript into a temporary archive, and preview its session."""
    if not os.path.isfile(path):
        message = f"there is no file {path}"
        raise NotFoundError(message, "name a transcript (*.jsonl)")
    head = read_head(path)
    with (
        tempfile.TemporaryDirectory(prefix="unified-state-") as folder,
        Archive(os.path.join(folder, "archive.db")) as archive,
    ):
        archive.run("PRAGMA synchronous = OFF")
        capture = Capture(archive, workspace.masker, Moment(now))
        capture.transcript(os.path.abspath(path), head.session_id, to_end=True)
        return _preview(archive, workspace, session_number(archive, head.session_id), now, summary, prompt)


def _session(archive: Archive, workspace: Workspace, now: int) -> int | None:
    """Return the session of an id, of the begin of one, or the last one at a time; by default the newest."""
    if workspace.session_id is None:
        return newest_session(archive, now)
    named = workspace.session_id
    number = session_number(archive, named)
    if number is not None:
        return number
    at = max((end for _, end in times_of(named, now).spans), default=begin_of(named, now))
    if at is None:
        found = sessions_called(archive, named)
    else:
        found = archive.column("SELECT session FROM turn WHERE at < ? AND agent IS NULL ORDER BY at DESC LIMIT 1", at)
    if len(found) != 1:
        message = f"there is no session {named} in the archive"
        raise NotFoundError(message, "`unified-state log --sessions` lists them")
    return int(found[0])


def _preview(
    archive: Archive, workspace: Workspace, session: int | None, now: int, summary: str | None, prompt: str | None
) -> Preview:
    known = gather(archive, workspace.place, session, "compact", now)
    if summary is not None:
        known = known.replace(summary=summary, survival=judge(stated_items(archive, [ACTIVE]), summary))
    texts = restored_text(known, workspace.settings).as_dict()
    if prompt:
        texts[RELEVANT] = relevant_turns(archive, prompt, known.now, told="\n".join(texts.values()))
    return Preview(tuple((part, texts[part]) for part in (*PARTS, RELEVANT) if texts.get(part)))


_NO_LIMIT = 1_000_000


def preview_startup(workspace: Workspace, now: int) -> Preview:
    """Return the state as the start of a session gives it."""
    text = startup_text(workspace, now)
    return Preview(((BRIEF, text),)) if text else Preview()


def startup_text(workspace: Workspace, now: int) -> str:
    """Return the text of the state as the start of a session gives it, without a limit."""
    if workspace.is_empty:
        return ""

    def action(archive: Archive) -> str:
        known = gather(archive, workspace.place, newest_session(archive, now), "startup", now)
        known = known.replace(**known_for_all(workspace.settings, known.health))
        return compose(known, _NO_LIMIT, _NO_LIMIT).brief

    return workspace.use(action)
