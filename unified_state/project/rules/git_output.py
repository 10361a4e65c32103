"""Readers of git's output, for the fields of a `GitState`. Memory is bounded whatever the size of the output.

Names are not changed. Git is asked for NUL-terminated output, which it never quotes. Bytes that are not UTF-8 become
U+FFFD. In text made of lines control characters are escaped, so that no name starts a line.
"""

from __future__ import annotations

LISTED = 20
PATH_LIMIT = 200
SUBJECT_LIMIT = 100
_ERROR_LIMIT = 300
_BRANCHES = b"refs/heads/"
_MOST_UNSURE = 1 << 20  # bytes of entries whose content a filter may have changed; entries beyond it count as changed

# Number of fields before the path, by the first letter of an entry: git-status(1), "Porcelain Format Version 2".
_WORKTREE = 3  # index of the worktree's status letter in an entry
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

    Where filters are switched off, git reports a file as changed if its content differs from the filter's output. So
    with `filters` those paths are `unsure` until `leave_out` says which of them a filter covers.
    """

    def __init__(self, *, filters: bool = False) -> None:
        self.branch: str | None = None
        self.commit: str | None = None
        self.changed_count = 0
        self.filtered: list[str] = []
        self.filtered_count = 0
        self._conflicts: list[bytes] = []
        self._changes: list[tuple[int, bytes]] = []
        self._unsure: list[tuple[int, bytes]] = []
        self._room = _MOST_UNSURE if filters else 0
        self._renamed = b""
        self._unfinished = b""

    def feed(self, piece: bytes) -> None:
        """Parse the next piece of the output."""
        *entries, self._unfinished = (self._unfinished + piece).split(b"\0")
        for entry in entries:
            if self._renamed:
                self._keep(self._renamed + b"\0" + entry)
                self._renamed = b""
            elif entry.startswith((b"1 ", b"? ")):
                self._keep(entry)
            elif entry.startswith(b"2 "):
                self._renamed = entry  # the former name follows as an entry of its own
            elif entry.startswith(b"u "):
                self.changed_count += 1
                if len(self._conflicts) < LISTED:
                    self._conflicts.append(entry)
            elif entry.startswith(b"# branch."):
                self._read_head(entry)

    def _keep(self, entry: bytes) -> None:
        self.changed_count += 1
        is_content = entry[_WORKTREE : _WORKTREE + 3] == b"M N" and entry[:1] != b"?"  # N: it is no submodule
        if is_content and self._room >= len(entry):
            self._room -= len(entry)
            self._unsure.append((self.changed_count, entry))
        elif len(self._changes) < LISTED:
            self._changes.append((self.changed_count, entry))

    def _read_head(self, header: bytes) -> None:
        _, name, value = header.decode(errors="replace").split(" ", 2)
        if name == "branch.oid" and value != "(initial)":
            self.commit = value
        elif name == "branch.head" and value != "(detached)":
            self.branch = value

    def unsure(self) -> list[bytes]:
        """Return the paths that may differ only because their filter is switched off."""
        return [_path(entry) for _, entry in self._unsure]

    def leave_out(self, filtered: set[bytes]) -> None:
        """Remove the paths that a filter covers from the changes. A staged change of such a path stays."""
        sure: list[tuple[int, bytes]] = []
        for number, entry in self._unsure:
            path = _path(entry)
            if path not in filtered:
                sure.append((number, entry))
                continue
            self.filtered_count += 1
            if len(self.filtered) < LISTED:
                self.filtered.append(_cut_front(path.decode(errors="replace")))
            if entry[_WORKTREE - 1 : _WORKTREE] == b".":
                self.changed_count -= 1
            else:
                sure.append((number, entry[:_WORKTREE] + b"." + entry[_WORKTREE + 1 :]))
        self._unsure = sure

    @property
    def status(self) -> str:
        """The stored entries as `git status --short` shows them, and the number of further ones."""
        lines = [_short_line(*change) for change in self._listed()]
        if self.changed_count > LISTED:
            lines.append(f"… and {self.changed_count - LISTED:,} more")
        return "\n".join(lines)

    @property
    def modified_files(self) -> tuple[str, ...]:
        """The paths of the stored entries, relative to the top of the worktree; for a renamed file the new path."""
        return tuple(_cut_front(path) for _, path, _ in self._listed())

    def _listed(self) -> list[tuple[str, str, str]]:
        changes = [entry for _, entry in sorted(self._changes + self._unsure)]
        return [_change(entry) for entry in (self._conflicts + changes)[:LISTED]]


class FilterReader:
    """Parses `git check-attr -z filter`: `filtered` are the paths that one of the filters covers."""

    def __init__(self, filters: set[bytes]) -> None:
        self.filtered: set[bytes] = set()
        self._filters = filters
        self._unfinished: list[bytes] = []

    def feed(self, piece: bytes) -> None:
        """Parse the next piece of the output: path, attribute and value, each terminated by a NUL."""
        fields = (b"\0".join(self._unfinished) + piece).split(b"\0")
        whole = (len(fields) - 1) // 3 * 3
        for at in range(0, whole, 3):
            if fields[at + 2] in self._filters:
                self.filtered.add(fields[at])
        self._unfinished = fields[whole:]


def filter_names(variables: bytes) -> set[bytes]:
    """Return the names in `git config -z --name-only`, each `filter.NAME.KEY`. A key without a name is no filter."""
    found = (variable.removeprefix(b"filter.").rpartition(b".") for variable in variables.split(b"\0"))
    return {name for name, dot, _ in found if dot}


def recent_commits(log: bytes) -> tuple[str, ...]:
    """Return the commits of `git log -z --format=%h %s`, newest first: abbreviated hash and subject."""
    commits = [commit.partition(" ") for commit in log.decode(errors="replace").split("\0") if commit]
    return tuple(f"{commit} {_cut_end(_one_line(subject), SUBJECT_LIMIT)}" for commit, _, subject in commits)


def staged_changes(shortstat: bytes) -> str:
    """Return the one line of `git diff --cached --shortstat`; "" if nothing is staged."""
    return shortstat.decode(errors="replace").strip()


def head_place(rev_parse: bytes) -> tuple[bytes, str | None, str | None]:
    """Return git dir, commit and branch from `git rev-parse --absolute-git-dir HEAD --symbolic-full-name HEAD`.

    Before the first commit git repeats "HEAD" and stops, and for a branch named HEAD it prints no ref. So each line is
    recognized by its form, from the end, since the name of a folder may contain a newline.
    """
    lines = rev_parse.split(b"\n")[:-1]
    ref = lines.pop() if lines and lines[-1].startswith((b"refs/", b"HEAD")) else b""
    commit = lines.pop() if lines and not lines[-1].strip(b"0123456789abcdef") else b""
    branch = ref.removeprefix(_BRANCHES).decode(errors="replace") if ref.startswith(_BRANCHES) else None
    return b"\n".join(lines), commit.decode() or None, branch


def what_git_says(complaint: bytes) -> str:
    """Return the reason of a failure in one line, from git's standard error."""
    lines = [line for line in complaint.decode(errors="replace").splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines[-1:] or [""]
    return _cut_end(_one_line(reasons[0].removeprefix("fatal: ").removeprefix("error: ")), _ERROR_LIMIT)


def _change(entry: bytes) -> tuple[str, str, str]:
    """Return two-letter code, path and former path of a status entry."""
    text = entry.decode(errors="replace")
    fields = text.split(" ", _FIELDS[text[0]])
    path, _, former = fields[-1].partition("\0")
    return "??" if text[0] == "?" else fields[1].replace(".", " "), path, former


def _path(entry: bytes) -> bytes:
    return entry.split(b" ", _FIELDS[entry[:1].decode()])[-1].partition(b"\0")[0]


def _short_line(code: str, path: str, former: str) -> str:
    shown = _one_line(_cut_front(path))
    return f"{code} {_one_line(_cut_front(former))} -> {shown}" if former else f"{code} {shown}"


def _one_line(text: str) -> str:
    return text.translate(_ESCAPES)


def _cut_front(path: str) -> str:
    """Return the end of a long path, from a folder on if one is near. The file name says more than the start."""
    if len(path) <= PATH_LIMIT:
        return path
    start = len(path) - PATH_LIMIT + 1
    folder = path.find("/", start, start + PATH_LIMIT // 2)
    if folder >= 0:
        return "…" + path[folder:]
    while start < len(path) and _belong_together(path[start - 1], path[start]):
        start += 1
    return "…" + path[start:]


def _cut_end(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = limit - 1
    while end and _belong_together(text[end - 1], text[end]):
        end -= 1
    return text[:end] + "…"


def _belong_together(left: str, right: str) -> bool:
    """Return whether two code points belong to one character, such as an accent and its letter or parts of an emoji."""
    from unicodedata import category

    joined = "\N{ZERO WIDTH JOINER}" in (left, right)
    mark = category(right).startswith("M")
    skin_tone = "\U0001f3fb" <= right <= "\U0001f3ff"
    flag = min(left, right) >= "\U0001f1e6" and max(left, right) <= "\U0001f1ff"
    return joined or mark or skin_tone or flag
