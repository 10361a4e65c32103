"""What a person brings into the conversation: resources (`@unified-state:state://current`) and a prompt
(`/mcp__unified-state__hand_over`).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from unified_state.interfaces.mcp.read_tools import state_page
from unified_state.interfaces.mcp.tool_answers import json_text
from unified_state.lib.excerpts import page_of_entries
from unified_state.lib.times import current_time
from unified_state.restore.note_survival import survivals
from unified_state.restore.preview import hand_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.mcp.server_project import Project


class Texts:
    """The texts of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def current(self) -> str:
        """The state of the work as it is now: constraints, decisions, open questions, failed attempts, errors, git."""
        return json_text(state_page(self._project, 0))

    def survival(self) -> str:
        """What the summaries of the compactions kept of the state, what they lost or told otherwise, and what was given
        back; the newest first.
        """
        compactions = self._project.reading().use(survivals)
        shown, page = page_of_entries(compactions[::-1], 0)
        return json_text({"compactions": shown, "page": page.as_dict()})

    def hand_over(
        self, focus: Annotated[str, Field(description="what the successor is to do; default: to go on")] = ""
    ) -> str:
        """Write a hand-over of this work for another session or a person, from what is recorded and from this
        conversation.
        """
        return hand_over(self._project.reading(), focus, current_time())
