"""The tool `blame` of the MCP server."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import Field

from unified_state.extras.blame.blame_lines import blame as blame_lines
from unified_state.extras.blame.blame_lines import parse_lines
from unified_state.interfaces.mcp.server_project import Project, visible_value
from unified_state.interfaces.mcp.tool_pages import paged
from unified_state.interfaces.mcp.tools import READS, Offset
from unified_state.lib.excerpts import PAGE_TOKENS, page_of_entries


class BlameTools:
    """The tool that reads who wrote a line."""

    hints = READS

    def __init__(self, project: Project) -> None:
        self._project = project

    def blame(
        self,
        file: Annotated[str, Field(description="a file of this project")],
        lines: Annotated[str | None, Field(description="only these lines: 120, 120-140")] = None,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Return who wrote lines of a file, and why: the commit, the turn whose edit wrote them, its prompt, what was
        decided, ruled or tried in it, and the tests that ran then. Ask before you change code that looks odd.
        """
        workspace = self._project.reading()
        path = os.path.join(workspace.place.repository.worktree, file)
        found = visible_value(blame_lines(workspace, path, parse_lines(lines) if lines else None).as_dict())
        groups, page = page_of_entries(found["lines"], offset, PAGE_TOKENS // 2)
        named = {group["turn"] for group in groups}
        turns, _ = page_of_entries([turn for turn in found["turns"] if turn["ref"] in named], 0, PAGE_TOKENS // 2)
        return {**found, "lines": groups, "turns": turns, **paged(page)}
