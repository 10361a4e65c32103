"""Git's output becomes a bounded, exact description, however it arrives and whatever it holds."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.processes import Excerpt, Program
from unified_state.project.git_command import what_failed
from unified_state.project.git_state import LISTED, PATH_LIMIT, StatusReader

HEAD = b"## topic...origin/topic [different]\0"

paths = st.binary(min_size=1, max_size=60).filter(lambda path: b"\0" not in path)
plain = st.tuples(st.sampled_from([b"M ", b" M", b"AM", b" D", b"D ", b"UU", b"??"]), paths).map(
    lambda change: (change[0] + b" " + change[1], b"")
)
renamed = st.tuples(paths, paths).map(lambda pair: (b"R  " + pair[0], pair[1]))
Changes = list[tuple[bytes, bytes]]  # each entry, and the former name where it has one
entries = st.lists(st.one_of(plain, renamed), max_size=60)


def read(*pieces: bytes) -> StatusReader:
    reader = StatusReader()
    for piece in pieces:
        reader.feed(piece)
    return reader


def entry(line: bytes) -> StatusReader:
    return read(line + b"\0")


def change(path: bytes, code: bytes = b" M") -> bytes:
    return code + b" " + path + b"\0"


@given(changes=entries, cuts=st.lists(st.integers(min_value=0, max_value=8000)))
def test_the_pieces_in_which_the_output_arrives_make_no_difference(changes: Changes, cuts: list[int]) -> None:
    output = HEAD + b"".join(line + b"\0" + (old + b"\0" if old else b"") for line, old in changes)
    at = [0, *sorted(cut for cut in cuts if cut < len(output)), len(output)]
    in_pieces = read(*(output[start:end] for start, end in pairwise(at)))
    whole = read(output)
    assert in_pieces.branch == "topic"
    assert in_pieces.status == whole.status
    assert in_pieces.modified_files == whole.modified_files
    assert in_pieces.changed_count == whole.changed_count == len(changes)


@given(changes=entries)
def test_what_is_kept_is_bounded_and_one_line_each(changes: Changes) -> None:
    reader = read(b"".join(line + b"\0" + (old + b"\0" if old else b"") for line, old in changes))
    lines = reader.status.splitlines()
    assert len(lines) == min(len(changes), LISTED) + (len(changes) > LISTED)
    assert len(reader.modified_files) == min(len(changes), LISTED)
    assert all(len(path) <= PATH_LIMIT for path in reader.modified_files)


def test_a_rename_shows_both_names_and_counts_once() -> None:
    reader = read(b"R  new name\x00R  old\0" + change(b"next"))
    assert reader.status == "R  R  old -> new name\n M next"
    assert reader.modified_files == ("new name", "next")
    assert reader.changed_count == 2


def test_conflicts_come_before_any_number_of_other_changes() -> None:
    reader = read(b"".join(change(b"f%d" % number, b"M ") for number in range(50)) + b"UU both.txt\0")
    assert reader.status.splitlines()[0] == "UU both.txt"
    assert reader.modified_files[0] == "both.txt"


def test_control_characters_make_no_lines_of_their_own() -> None:
    assert entry("?? a\nM  fake\x1b[31m\u2028b".encode()).status == "?? a\\nM  fake\\x1b[31m\\u2028b"


def test_a_long_path_keeps_its_end() -> None:
    path = "/".join(["folder"] * 60) + "/file.py"
    (cut,) = entry(b"?? " + path.encode()).modified_files
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
