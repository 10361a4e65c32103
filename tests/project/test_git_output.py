"""Git's output becomes a bounded, exact description, however it arrives and whatever it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.processes import Excerpt, Program
from unified_state.project.git_command import what_failed
from unified_state.project.git_state import LISTED, PATH_LIMIT, listed, read_status

HEAD = b"## topic...origin/topic [different]\0"

paths = st.binary(min_size=1, max_size=60).filter(lambda path: b"\0" not in path)
plain = st.tuples(st.sampled_from([b"M ", b" M", b"AM", b" D", b"D ", b"UU", b"??"]), paths).map(
    lambda change: (change[0] + b" " + change[1], b"")
)
renamed = st.tuples(paths, paths).map(lambda pair: (b"R  " + pair[0], pair[1]))
Changes = list[tuple[bytes, bytes]]  # each entry, and the former name where it has one
entries = st.lists(st.one_of(plain, renamed), max_size=60)


class Status:
    """What is told of an output of `git status`."""

    def __init__(self, output: bytes) -> None:
        self.branch, changes = read_status(output)
        self.status, self.modified_files, self.changed_count = listed(changes).values()


def output_of(changes: Changes) -> bytes:
    return HEAD + b"".join(line + b"\0" + (old + b"\0" if old else b"") for line, old in changes)


def change(path: bytes, code: bytes = b" M") -> bytes:
    return code + b" " + path + b"\0"


@given(changes=entries, cut=st.integers(min_value=0, max_value=8000))
def test_what_is_kept_is_bounded_and_one_line_each_wherever_the_output_was_cut(changes: Changes, cut: int) -> None:
    found = Status(output_of(changes))
    lines = found.status.splitlines()
    assert (found.branch, found.changed_count) == ("topic", len(changes))
    assert len(lines) == min(len(changes), LISTED) + (len(changes) > LISTED)
    assert len(found.modified_files) == min(len(changes), LISTED)
    assert all(len(path) <= PATH_LIMIT for path in found.modified_files)
    assert Status(output_of(changes)[:cut]).changed_count <= len(changes)


def test_a_rename_shows_both_names_and_counts_once() -> None:
    reader = Status(b"R  new name\x00R  old\0" + change(b"next"))
    assert reader.status == "R  R  old -> new name\n M next"
    assert reader.modified_files == ("new name", "next")
    assert reader.changed_count == 2


def test_conflicts_come_before_any_number_of_other_changes() -> None:
    reader = Status(b"".join(change(b"f%d" % number, b"M ") for number in range(50)) + b"UU both.txt\0")
    assert reader.status.splitlines()[0] == "UU both.txt"
    assert reader.modified_files[0] == "both.txt"


def test_control_characters_make_no_lines_of_their_own() -> None:
    assert Status("?? a\nM  fake\x1b[31m\u2028b\0".encode()).status == "?? a\\nM  fake\\x1b[31m\\u2028b"


def test_a_long_path_keeps_its_end() -> None:
    path = "/".join(["folder"] * 60) + "/file.py"
    (cut,) = Status(b"?? " + path.encode() + b"\0").modified_files
    assert len(cut) == PATH_LIMIT
    assert cut[0] == "…"
    assert path.endswith(cut[1:])


@pytest.mark.parametrize(
    ("complaint", "said"),
    [
        (b"warning: x\nfatal: not a git repository\nhint: y\n", "not a git repository"),
        (b"usage: git diff\n", "usage: git diff"),
        (b"error: a\x1b[31mb\n", "a\\x1b[31mb"),
        (b"", "git diff ended with 128"),
    ],
)
def test_what_git_says_is_its_reason_in_one_line(complaint: bytes, said: str) -> None:
    program = Program("git diff", [], Excerpt(0))
    program.exit_code = 128
    program.complaint.feed(complaint)
    assert what_failed(program, 1.0) == said
