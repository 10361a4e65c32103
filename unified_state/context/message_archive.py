"""Archive the texts that `prune_messages` cuts from a program's conversation, with refs for `recall`.

Invariant: a ref is returned only for a text that is durably archived (except masked secrets). In a session the same
text always has the same ref.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import LOCAL_SESSION
from unified_state.archive.write_steps import StepWriter
from unified_state.context.prune_messages import ASSISTANT, TOOL, CutText
from unified_state.lib.json_text import dump_json
from unified_state.lib.text import pack
from unified_state.lib.times import current_time
from unified_state.model.step import NOTICE, TEXT, TOOL_RESULT, Step
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import recall_and_note
from unified_state.state_file.manager import program_workspace

# A program may put any text in the user's place. So such a text becomes a notice, which has no authority.
_KINDS = {TOOL: TOOL_RESULT, ASSISTANT: TEXT}


class MessageArchive:
    """Archive the texts that `prune_messages` cuts, and recall them.

    >>> archive = MessageArchive()
    >>> messages = prune_messages(messages, archive.keep)
    >>> archive.recall("S12")
    """

    def __init__(
        self,
        project_dir: str | os.PathLike[str] | None = None,
        session_id: str | None = None,
        *,
        workspace: Workspace | None = None,
    ) -> None:
        """Open the archive of the repository of `project_dir` (default: the current folder).

        `session_id` names the conversation, and searches show it. `workspace` is for callers that already have one.
        """
        self._workspace = workspace or program_workspace(project_dir, session_id)
        self._refs: dict[str, str] = {}

    def keep(self, texts: Sequence[CutText]) -> list[str]:
        """Archive texts and return their refs. A text that the user had forgotten is not archived again, and its ref is
        empty.
        """
        keys = [sha256(found.text.encode("utf-8", "surrogatepass")).hexdigest() for found in texts]
        new = {key: found for key, found in zip(keys, texts, strict=True) if key not in self._refs}
        if new:
            now = current_time()
            self._refs |= self._workspace.use(lambda archive: self._store(archive, new, now))
        return [self._refs[key] for key in keys]

    def recall(self, ref: str) -> str:
        """Return the whole text of a step, or the known data of any other ref as JSON. Raises NotFoundError."""
        found = recall_and_note(self._workspace, ref, current_time())
        text = found.get("result", found.get("text"))
        return text if isinstance(text, str) else dump_json(found)

    def _store(self, archive: Archive, texts: dict[str, CutText], now: int) -> dict[str, str]:
        masker = self._workspace.masker
        kept = {key: masker.typed(found.text) for key, found in texts.items()}
        refs: dict[str, str] = {}
        with archive.transaction():
            writer = StepWriter(archive, self._workspace.session_number(archive, now), None)
            for key, found in texts.items():
                step = Step(
                    uuid=f"{self._workspace.session_id or LOCAL_SESSION}/pruned/{key}",
                    block=0,
                    kind=_KINDS.get(found.said_by, NOTICE),
                    at=now,
                    text=kept[key],
                    tool_use_id=found.tool_use_id,
                )
                writer.add(step, pack(step.text))
                known = archive.row("SELECT id FROM step WHERE uuid = ? AND block = 0 AND kind NOT NULL", step.uuid)
                refs[key] = f"S{known[0]}" if known else ""
        return refs
