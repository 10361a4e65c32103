"""The MCP server. Only this folder imports the MCP library."""
