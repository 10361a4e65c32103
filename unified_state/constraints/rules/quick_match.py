"""Whether a constraint may match a tool call, without reading its shell line. False is always correct.

Most calls match nothing. So the hook before tool calls asks this first, and loads the judge (`judge_call`) for the
rest.
"""

from __future__ import annotations

from unified_state.constraints.rules.globs import glob_matches, has_wildcard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

CHANGING_TOOLS = {"Edit", "MultiEdit", "NotebookEdit", "Write"}
MCP = "mcp__"
# All programs whose files `changed_files` finds.
CHANGING_PROGRAMS = {
    "apply_patch", "awk", "bzip2", "chgrp", "chmod", "chown", "cp", "curl", "dd", "docker", "find", "gawk", "git",
    "gunzip", "gzip", "install", "ln", "mkdir", "mv", "patch", "perl", "pg_dump", "podman", "rm", "rmdir", "rsync",
    "ruby", "scp", "sed", "shred", "sort", "tar", "tee", "touch", "truncate", "unlink", "unzip", "wget", "xz",
    "zstd",
}  # fmt: skip
_EDIT_FIELDS = {
    *("file_path", "old_string", "new_string", "replace_all", "content"),
    *("notebook_path", "cell_id", "cell_type", "edit_mode", "new_source"),
}
_OTHER_PATH = {tool: {"file_path" if tool == "NotebookEdit" else "notebook_path"} for tool in CHANGING_TOOLS}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-./=:,@%+|&;")
_LONGEST = 4_000  # characters of a line that is looked at
_MOST_WORDS = 25  # the judge reads so many commands within each other (`DEEPEST` of `shell_line`)
_QUOTING = str.maketrans("", "", "'\"\\\n\r")
_APART = str.maketrans("./=:,@%+|&;", " " * 11)


def may_match(constraint: Mapping[str, Any], tool: str, given: Mapping[str, Any], edited: str = "") -> bool:
    """Return whether a constraint, as the table has it, may match a call of a tool. `edited` is the only file that the
    call names (see `edited_file`), if no symlink leads to it.
    """
    tools, commands = constraint.get("tools", ()), constraint.get("commands", ())
    if tools and not any(glob_matches(pattern, tool) for pattern in tools):
        return False
    if not commands and not constraint.get("paths", ()):
        return True
    line = given.get("command")
    if isinstance(line, str):
        return names_a_program(commands, line) if commands else bool(tools) or may_change_files(line)
    if commands or not (tools or tool in CHANGING_TOOLS or tool.startswith(MCP)):
        return False
    return not edited or any(_may_name(pattern, edited.lower()) for pattern in constraint["paths"])


def edited_file(tool: str, given: Mapping[str, Any], folder: str) -> str:
    """Return the absolute path of the only file that a call of an editing tool in a folder can name, or "" if the judge
    has to resolve it.
    """
    path = given.get("notebook_path" if tool == "NotebookEdit" else "file_path")
    is_plain = tool in CHANGING_TOOLS and given.keys() <= _EDIT_FIELDS and not _OTHER_PATH[tool] & given.keys()
    is_plain = is_plain and not any(isinstance(value, list | dict) for value in given.values())
    if not is_plain or not isinstance(path, str) or not path or path[0] == "~" or ":" in path or folder[:1] != "/":
        return ""
    whole = path if path[0] == "/" else f"{folder}/{path}"
    return whole if whole.isascii() and whole.isprintable() and "/.." not in whole else ""


def _may_name(pattern: str, path: str) -> bool:
    """Return whether a path in small letters has all fixed parts of a pattern."""
    parts = pattern.lower().replace("/", "*").replace("?", "*").split("*")
    return not pattern.isascii() or all(part in path for part in parts if part != ".")


def names_a_program(patterns: Sequence[str], line: str) -> bool:
    """Return whether a line may run a program of the patterns."""
    if "$'" in line and "\\" in line:
        return True  # a name may be written in escapes
    bare = line.translate(_QUOTING)
    names = [pattern.split()[0].rsplit("/", 1)[-1] for pattern in patterns]
    return any(has_wildcard(name) or name in bare for name in names)


def may_change_files(line: str) -> bool:
    """Return whether a line may change a file that the judge finds, or cannot be read by it: it has more than plain
    words, or very many, or names a program that changes files. `env -Srm` names one in its option.
    """
    if len(line) > _LONGEST or not _PLAIN.issuperset(line):
        return True
    words = line.lower().translate(_APART).split()
    return len(words) > _MOST_WORDS or any(word in CHANGING_PROGRAMS or word.startswith("-s") for word in words)


def may_run_us(line: object) -> bool:
    """Return whether a line may run our program."""
    return isinstance(line, str) and "unified" in line.translate(_QUOTING)
