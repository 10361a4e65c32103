"""Readers of git's output, for the fields of a `GitState`. Memory is bounded whatever the size of the output.

Names are not changed. Git is asked for NUL-terminated output, which it never quotes. Bytes that are not UTF-8 become
U+FFFD. In text made of lines control characters are escaped, so that no name starts a line.
"""

from __future__ import annotations

from unified_state.lib.text import boundary, cut

LISTED = 20
PATH_LIMIT = 200
SUBJECT_LIMIT = 100
_ERROR_LIMIT = 300

# Number of fields before the path, by the first letter of an entry: git-status(1), "Porcelain Format Version 2".
_FIELDS = {"1": 8, "2": 9, "u": 10, "?": 1}
_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))} | {
    ord("\t"): "\\t",
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


class StatusReader:
    """Parses `git status --porcelain=v2 --branch -z` piece by piece, as it arrives.

    `branch` is None on a detached HEAD, `commit` before the first commit. `changed_count` counts every changed and
    untracked path, while at most LISTED of them are stored: conflicts first, then in git's own order.
    """

    def __init__(self) -> None:
        self.branch: str | None = None
        self.commit: str | None = None
        self.changed_count = 0
        self._conflicts: list[bytes] = []
        self._changes: list[bytes] = []
        self._renamed = b""
        self._unfinished = b""

    def feed(self, piece: bytes) -> None:
        """Parse the next piece of the output."""
        *entries, self._unfinished = (self._unfinished + piece).split(b"\0")
        for entry in entries:
            if self._renamed:
                self._keep(self._changes, self._renamed + b"\0" + entry)
                self._renamed = b""
            elif entry.startswith((b"1 ", b"? ")):
                self._keep(self._changes, entry)
            elif entry.startswith(b"2 "):
                self._renamed = entry  # the former name follows as an entry of its own
            elif entry.startswith(b"u "):
                self._keep(self._conflicts, entry)
            elif entry.startswith(b"# branch."):
                self._read_head(entry)

    def _keep(self, entries: list[bytes], entry: bytes) -> None:
        self.changed_count += 1
        if len(entries) < LISTED:
            entries.append(entry)

    def _read_head(self, header: bytes) -> None:
        _, name, value = header.decode(errors="replace").split(" ", 2)
        if name == "branch.oid" and value != "(initial)":
            self.commit = value
        elif name == "branch.head" and value != "(detached)":
            self.branch = value

    @property
    def status(self) -> str:
        """The stored entries as `git status --short` shows them, and the number of further ones."""
        lines = [f"{code} {' -> '.join(map(_one_line, reversed(names)))}" for code, *names in self._listed()]
        if self.changed_count > LISTED:
            lines.append(f"… and {self.changed_count - LISTED:,} more")
        return "\n".join(lines)

    @property
    def modified_files(self) -> tuple[str, ...]:
        """The paths of the stored entries, relative to the top of the worktree; for a renamed file the new path."""
        return tuple(path for _, path, *_ in self._listed())

    def _listed(self) -> list[list[str]]:
        return [_change(entry.decode(errors="replace")) for entry in (self._conflicts + self._changes)[:LISTED]]


def filter_names(variables: bytes) -> set[bytes]:
    """Return the names in `git config -z --name-only`, each `filter.NAME.KEY`. A key without a name is no filter."""
    found = (variable.removeprefix(b"filter.").rpartition(b".") for variable in variables.split(b"\0"))
    return {name for name, dot, _ in found if dot}


def recent_commits(log: bytes) -> tuple[str, ...]:
    """Return the commits of `git log -z --format=%h %s`, newest first: abbreviated hash and subject."""
    commits = [commit.partition(" ") for commit in log.decode(errors="replace").split("\0") if commit]
    return tuple(f"{commit} {cut(_one_line(subject), SUBJECT_LIMIT)}" for commit, _, subject in commits)


def what_git_says(complaint: bytes) -> str:
    """Return the reason of a failure in one line, from git's standard error."""
    lines = [line for line in complaint.decode(errors="replace").splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines[-1:] or [""]
    return cut(_one_line(reasons[0].removeprefix("fatal: ").removeprefix("error: ")), _ERROR_LIMIT)


def _change(entry: str) -> list[str]:
    """Return two-letter code, path and, for a renamed file, former path of a status entry."""
    fields = entry.split(" ", _FIELDS[entry[0]])
    code = "??" if entry[0] == "?" else fields[1].replace(".", " ")
    return [code, *map(_cut_front, fields[-1].split("\0"))]


def _one_line(text: str) -> str:
    return text.translate(_ESCAPES)


def _cut_front(path: str) -> str:
    """Return the end of a long path, from a folder on if one is near. The file name says more than the start."""
    if len(path) <= PATH_LIMIT:
        return path
    start = len(path) - PATH_LIMIT + 1
    folder = path.find("/", start, start + PATH_LIMIT // 2)
    while folder < 0 and boundary(path, start) < start:
        start += 1
    return "…" + path[max(start, folder) :]
