# Prints the path of an installed unified-state that runs; exit 1 where there is none.
#
# The one that was found before comes first, then the user's own: PATH, pipx, uv tool, an active environment. The
# environment of a project counts if git ignores it: what a stranger's repository brings along is tracked.
try() {
    [ -x "$1" ] && [ ! -e "${1%/*}/../hooks/find.sh" ] && "$1" --version </dev/null >/dev/null 2>&1 || return
    printf '%s\n' "$1"
    exit
}
{ read -r _ && read -r _ && IFS= read -r known && try "$known"; } 2>/dev/null <"${CLAUDE_PLUGIN_DATA:-/dev}/program"
data=${XDG_DATA_HOME:-$HOME/.local/share}
set -f
IFS=:
for folder in $PATH "$HOME/.local/bin" "${PIPX_HOME:-$data/pipx}/venvs/unified-state/bin" \
    "$HOME/.local/pipx/venvs/unified-state/bin" "${UV_TOOL_DIR:-$data/uv/tools}/unified-state/bin" "${VIRTUAL_ENV-}/bin"; do
    case $folder in /*) try "$folder/unified-state" ;; esac
done
cd "${CLAUDE_PROJECT_DIR:-.}" || exit
for folder in .venv venv; do
    git check-ignore --quiet "$folder/bin/unified-state" && try "$PWD/$folder/bin/unified-state"
done 2>/dev/null
exit 1
