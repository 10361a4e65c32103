# One hook of the plugin: `set -- EVENT [PART]; . start.sh`, what the client says on stdin.
#
# Where the program lies stands in the plugin's data folder, as the program itself wrote it: its interpreter, and the
# folder of its package. So a prompt waits for nothing but this file, and an update of the plugin, which moves it,
# changes nothing.
if [ -r "${CLAUDE_PLUGIN_DATA-}/program" ]; then
    { IFS= read -r python && IFS= read -r root; } <"$CLAUDE_PLUGIN_DATA/program"
    if [ -x "$python" ] && [ -e "$root/unified_state/interfaces/plugin.py" ]; then
        exec "$python" -I -S -c 'import gc,sys;gc.set_threshold(100000);sys.path.append(sys.argv.pop(1));from unified_state.interfaces.plugin import main;main()' "$root" "$@"
    fi
fi
. "$CLAUDE_PLUGIN_ROOT/hooks/first.sh"
