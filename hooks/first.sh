# A hook of the plugin while no program is known: look for one; where there is none, say so once and do nothing.
#
# No program is looked up in the folder of the session, which a relative or empty part of the PATH leads into.
IFS=: clean=
set -f
for folder in $PATH; do case $folder in /*) clean=$clean${clean:+:}$folder ;; esac; done
set +f
unset IFS
PATH=${clean:-/dev/null}
if program=$(/bin/sh "$CLAUDE_PLUGIN_ROOT/hooks/find.sh"); then
    rm -f "$CLAUDE_PLUGIN_DATA/told"
    exec "$program" hook --plugin "$@"
fi
if [ "$*" = "SessionStart brief" ] && [ ! -e "$CLAUDE_PLUGIN_DATA/told" ] &&
    mkdir -p "$CLAUDE_PLUGIN_DATA" && true >"$CLAUDE_PLUGIN_DATA/told"; then
    folder="'$CLAUDE_PLUGIN_ROOT[mcp]'"
    case $folder in *[\"\\]*) folder="the plugin's folder" ;; esac # they would need escaping
    why="the program is not installed, so its plugin does nothing; pipx install or uv tool install $folder"
    printf '{"systemMessage":"unified-state: %s"}\n' "$why"
fi 2>/dev/null
exit 0
