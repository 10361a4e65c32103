"""Commands that programs start: hooks, the status line, the MCP server, completion."""
