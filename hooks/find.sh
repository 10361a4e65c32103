# Prints the path of an installed unified-state that runs; exit 1 where there is none.
# The one that was found before comes first, then the user's own: PATH, pipx, uv tool, an active environment. None is
# taken from the repository that the session is in, nor from one around it, whatever the PATH says: it may be a
# stranger's. A repository that holds this plugin too, such as a home folder under git, is none.
inside() { case ${1%/}/ in "${2%/}"/*) ;; *) return 1 ;; esac; }
strange() {
    around=$project
    while :; do
        [ -e "$around/.git" ] && inside "$1" "$around" && ! inside "$plugin" "$around" && return
        [ "$around" ] || return
        around=${around%/*}
    done
}
try() {
    [ -x "$1" ] && [ ! -e "${1%/*}/../hooks/find.sh" ] && folder=$(cd -P "${1%/*}" 2>/dev/null && pwd) || return
    ! strange "$folder" && "$1" --version </dev/null >/dev/null 2>&1 || return
    printf '%s\n' "$1"
    exit
}
unset CDPATH
plugin=$(cd -P "${0%/*}/.." 2>/dev/null && pwd) || plugin=/
project=$(cd -P "${CLAUDE_PROJECT_DIR:-.}" 2>/dev/null && pwd) || project=/
{ read -r _ && read -r _ && IFS= read -r known && try "$known"; } 2>/dev/null <"${CLAUDE_PLUGIN_DATA:-/dev}/program"
data=${XDG_DATA_HOME:-$HOME/.local/share} IFS=:
set -f
for place in $PATH "$HOME/.local/bin" "${PIPX_HOME:-$data/pipx}/venvs/unified-state/bin" \
    "$HOME/.local/pipx/venvs/unified-state/bin" "${UV_TOOL_DIR:-$data/uv/tools}/unified-state/bin" "${VIRTUAL_ENV-}/bin"; do
    case $place in /*) try "$place/unified-state" ;; esac
done
exit 1
