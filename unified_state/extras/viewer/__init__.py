"""The viewer: pages of a project's memory, for a browser on this machine, and a file.

Only this folder imports Starlette, uvicorn and Jinja.
"""

from __future__ import annotations

_VERBS = f"{__name__}.view_command:COMMANDS"
COMMANDS = {"view": ("Everyday", _VERBS, "see sessions, compactions and the state in a browser")}
EXAMPLES = {"view": "unified-state view K2"}
PAGES = {"see-it-in-a-browser.md": "See it in a browser: sessions, compactions, the state"}
