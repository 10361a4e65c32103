"""Where an item comes from. Only the user's own words bind."""

from __future__ import annotations

USER_SAID = "user_said"  # the user's own words in a prompt, or the user's own terminal
OBSERVED = "observed"  # a tool's output, a file, the web
INFERRED = "inferred"  # a model: the API, MCP, and the command line when the client started it
ORIGINS = (USER_SAID, OBSERVED, INFERRED)
