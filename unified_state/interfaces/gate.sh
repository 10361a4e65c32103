# One hook of Claude Code, for the settings and for the plugin: `python`, `root` and `entry` name the program, and the
# arguments are EVENT [PART] [DATA_DIR]. The client's JSON is on stdin.
#
# It prints nothing of its own, ever. A prompt ends here if the last turn's end noted that the session's prompts need no
# addition, and no such thing was written since then (`quiet/SESSION` has the archive's present generation).
# A turn's end goes on behind the client's back. Everything else is Python's.
full() {
    exec "$python" -I -S -c "import gc,sys;gc.set_threshold(100000);sys.path.append(sys.argv.pop(1));from unified_state.interfaces.$entry import main;main()" "$root" "$@"
}
is_quiet() {
    case ${CLAUDE_CODE_SESSION_ID-} in '' | *[!0-9A-Za-z-]*) return 1 ;; esac
    case "$(export -p)" in *" UNIFIED_STATE_"* | *" CLAUDE_FLOW_"*) return 1 ;; esac # settings
    data=$HOME/.local/share/unified-state
    [ -d "$data" ] || data="$HOME/Library/Application Support/unified-state"
    { IFS= read -r archive && IFS= read -r noted; } <"$data/quiet/$CLAUDE_CODE_SESSION_ID" &&
        IFS= read -r present <"$data/repositories/$archive/generation" &&
        [ "$noted" = "$present" ] && [ -s "$data/repositories/$archive/archive.db" ]
}
# Whether the prompt is this session's, and may hold no words that the user marked. No process is started for that.
says_nothing() {
    case $input in *"\"session_id\":\"$CLAUDE_CODE_SESSION_ID\""*) ;; *) return 1 ;; esac
    case $input in
    *[Rr][Ee][Mm][Ee][Mm][Bb][Ee][Rr]:* | *[Rr][Uu][Ll][Ee]:* | *[Dd][Ee][Cc][Ii][Ss][Ii][Oo][Nn]:* | \
        *[Tt][Oo][Dd][Oo]:* | *[Aa][Cc][Cc][Ee][Pp][Tt][\ \\]* | *[Rr][Ee][Jj][Ee][Cc][Tt][\ \\]* | \
        *context-compact* | *\\u00[2-7]*) return 1 ;; # the last one: a letter that could be written as itself
    esac
}
case $1 in
UserPromptSubmit)
    if [ $# = 1 ] && is_quiet 2>/dev/null; then
        input=$(cat)
        says_nothing 2>/dev/null && exit 0
        printf %s "$input" | full "$@"
        exit
    fi
    ;;
Stop | SubagentStop)
    input=$(cat)
    case $1$input in # a compaction's own has no agent type: the restore waits for its summary
    Stop* | *'"agent_type":"'[!\"]*)
        (printf %s "$input" | full "$@") </dev/null >/dev/null 2>&1 &
        exit 0
        ;;
    esac
    printf %s "$input" | full "$@"
    exit
    ;;
esac
full "$@"
