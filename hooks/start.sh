# One hook of the plugin: `set -- EVENT [PART]; . start.sh`, what the client says on stdin.
#
# Where the program lies stands in the plugin's data folder, as the program itself wrote it: its interpreter, and the
# folder of its package. An update of the plugin, which moves it, changes nothing. The program's gate does the rest.
if [ -r "${CLAUDE_PLUGIN_DATA-}/program" ]; then
    { IFS= read -r python && IFS= read -r root; } <"$CLAUDE_PLUGIN_DATA/program"
    entry=plugin gate=$root/unified_state/interfaces/gate.sh
    if [ -x "$python" ] && [ -r "$gate" ]; then . "$gate"; fi
fi
. "$CLAUDE_PLUGIN_ROOT/hooks/first.sh"
