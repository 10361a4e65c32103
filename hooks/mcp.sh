# The plugin's MCP server: that of the installed program. Where there is none, one line and an end.
if program=$(/bin/sh "${0%/*}/find.sh"); then exec "$program" mcp; fi
echo "unified-state: the program is not installed, so there is no MCP server; the plugin's README tells how" >&2
exit 1
