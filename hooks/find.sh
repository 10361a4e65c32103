# Prints the path of an installed unified-state that runs; exit 1 where there is none.
#
# The user's own come first: PATH, pipx, uv tool, an active environment. The environment of a project counts if git
# ignores it: what a stranger's repository brings along is tracked.
try() {
    [ -x "$1" ] && [ ! -e "${1%/*}/../hooks/find.sh" ] && "$1" --version </dev/null >/dev/null 2>&1 || return
    printf '%s\n' "$1"
    exit
}
data=${XDG_DATA_HOME:-$HOME/.local/share}
set -f
IFS=:
for folder in $PATH "$HOME/.local/bin" "${PIPX_HOME:-$data/pipx}/venvs/unified-state/bin" \
    "$HOME/.local/pipx/venvs/unified-state/bin" "${UV_TOOL_DIR:-$data/uv/tools}/unified-state/bin" "${VIRTUAL_ENV-}/bin"; do
    case $folder in /*) try "$folder/unified-state" ;; esac
done
cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1
for folder in .venv venv; do
    if git check-ignore --quiet "$folder/bin/unified-state"; then try "$PWD/$folder/bin/unified-state"; fi
done 2>/dev/null
exit 1
