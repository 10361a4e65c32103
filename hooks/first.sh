# The plugin's hook where no program is known, or where it has gone: look for one; where there is none, say so once.
if program=$(sh "$CLAUDE_PLUGIN_ROOT/hooks/find.sh"); then
    rm -f "$CLAUDE_PLUGIN_DATA/told"
    exec "$program" hook --plugin "$@"
fi
if [ "$*" = "SessionStart brief" ] && [ ! -e "$CLAUDE_PLUGIN_DATA/told" ] && mkdir -p "$CLAUDE_PLUGIN_DATA" &&
    true >"$CLAUDE_PLUGIN_DATA/told"; then
    printf '{"systemMessage":"unified-state: the plugin finds no installed program and does nothing; its README tells how to install it (pipx, uv tool)"}\n'
fi
exit 0
