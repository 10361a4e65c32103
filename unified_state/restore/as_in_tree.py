"""What is known of a session, compared with the working tree: which of its files, names and commands are still there.

The comparison is bounded in files, bytes and time. What is beyond the bounds is told as it was recorded.
"""

from __future__ import annotations

from unified_state.capture.working_set.tree_view import TreeView
from unified_state.model.known import RestoreInput, WorkingFile, WorkingSet

_FILES, _READ, _WORDS = 60, 24, 80  # looked at, read, and compared identifiers of one file


def as_in_tree(known: RestoreInput, view: TreeView, root: str) -> RestoreInput:
    """Return what is known, with marks at what is gone.

    The paths of a session are relative to its own folder, `root`. Where that is not the working tree they are not
    compared: the session ran on another machine, or in another worktree.
    """
    if not view.is_at(root):
        return known
    working_set = known.working_set
    return known.replace(working_set=None if working_set is None else _files_in(working_set, view))


def _files_in(working_set: WorkingSet, view: TreeView) -> WorkingSet:
    """Return the working set without the identifiers that its files have lost."""
    by_heat = sorted(working_set.files[:_FILES], key=lambda file: file.hot, reverse=True)
    hottest = {file.path for file in by_heat[:_READ]}
    files = [_file_in(file, view, is_read=file.path in hottest) for file in working_set.files[:_FILES]]
    return working_set.replace(files=(*files, *working_set.files[_FILES:]))


def _file_in(file: WorkingFile, view: TreeView, *, is_read: bool) -> WorkingFile:
    """Return a file as it is now. One that was only mentioned may have another path."""
    if not file.hot or file.gone:
        return file
    if view.is_gone(file.path):
        return file.replace(gone="gone")
    if not is_read or view.content(file.path) is None:
        return file
    there = [scored for scored in file.words[:_WORDS] if not view.lacks(file.path, scored[0])]
    return file.replace(words=(*there, *file.words[_WORDS:]))
