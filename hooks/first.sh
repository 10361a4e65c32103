# A hook of the plugin while no program is known: look for one; where there is none, say so once and do nothing.
if program=$(sh "$CLAUDE_PLUGIN_ROOT/hooks/find.sh"); then
    rm -f "$CLAUDE_PLUGIN_DATA/told"
    exec "$program" hook --plugin "$@"
fi
if [ "$*" = "SessionStart brief" ] && [ ! -e "$CLAUDE_PLUGIN_DATA/told" ] &&
    mkdir -p "$CLAUDE_PLUGIN_DATA" && true >"$CLAUDE_PLUGIN_DATA/told"; then
    why="the program is not installed, so its plugin does nothing; the README tells how (pipx, uv tool)"
    printf '{"systemMessage":"unified-state: %s"}\n' "$why"
fi 2>/dev/null
exit 0
