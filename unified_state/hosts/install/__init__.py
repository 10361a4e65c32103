"""Installation into agents: hooks, status line, plugin."""
