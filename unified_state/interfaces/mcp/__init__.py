"""The MCP server; only this folder imports the MCP library."""
