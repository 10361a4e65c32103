"""Git's output becomes a bounded, exact description, however it arrives and whatever it holds."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.project.rules.git_output import (
    LISTED,
    PATH_LIMIT,
    SUBJECT_LIMIT,
    StatusReader,
    recent_commits,
    what_git_says,
)

COMMIT = b"1234567890123456789012345678901234567890"
HEADERS = b"# branch.oid " + COMMIT + b"\0# branch.head topic\0# branch.ab +1 -0\0"

paths = st.binary(min_size=1, max_size=60).filter(lambda path: b"\0" not in path)
plain = st.tuples(st.sampled_from([b"M.", b".M", b"AM", b".D", b"D."]), paths).map(
    lambda change: (b"1 " + change[0] + b" N... 100644 100644 100644 " + COMMIT + b" " + COMMIT + b" " + change[1], b"")
)
renamed = st.tuples(paths, paths).map(
    lambda pair: (b"2 R. N... 100644 100644 100644 " + COMMIT + b" " + COMMIT + b" R100 " + pair[0], pair[1])
)
unmerged = paths.map(
    lambda path: (b"u UU N... 100644 100644 100644 100644 " + b" ".join([COMMIT] * 3) + b" " + path, b"")
)
untracked = paths.map(lambda path: (b"? " + path, b""))
Changes = list[tuple[bytes, bytes]]  # each entry, and the former name where it has one
entries = st.lists(st.one_of(plain, renamed, unmerged, untracked), max_size=60)


def read(*pieces: bytes) -> StatusReader:
    reader = StatusReader()
    for piece in pieces:
        reader.feed(piece)
    return reader


def entry(line: bytes) -> StatusReader:
    return read(line + b"\0")


def change(path: bytes, code: bytes = b".M") -> bytes:
    return b"1 " + code + b" N... 100644 100644 100644 " + COMMIT + b" " + COMMIT + b" " + path + b"\0"


@given(changes=entries, cuts=st.lists(st.integers(min_value=0, max_value=8000)))
def test_the_pieces_in_which_the_output_arrives_make_no_difference(changes: Changes, cuts: list[int]) -> None:
    output = HEADERS + b"".join(line + b"\0" + (old + b"\0" if old else b"") for line, old in changes)
    at = [0, *sorted(cut for cut in cuts if cut < len(output)), len(output)]
    in_pieces = read(*(output[start:end] for start, end in pairwise(at)))
    whole = read(output)
    assert (in_pieces.branch, in_pieces.commit) == ("topic", COMMIT.decode())
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
    reader = read(b"2 R. N... 100644 100644 100644 a b R100 new name\x002 old\0" + change(b"next"))
    assert reader.status == "R  2 old -> new name\n M next"
    assert reader.modified_files == ("new name", "next")
    assert reader.changed_count == 2


def test_conflicts_come_before_any_number_of_other_changes() -> None:
    conflict = b"u UU N... 100644 100644 100644 100644 a b c both.txt\0"
    reader = read(b"".join(change(b"f%d" % number, b"M.") for number in range(50)) + conflict)
    assert reader.status.splitlines()[0] == "UU both.txt"
    assert reader.modified_files[0] == "both.txt"


def test_control_characters_make_no_lines_of_their_own() -> None:
    assert entry("? a\nM  fake\x1b[31m\u2028b".encode()).status == "?? a\\nM  fake\\x1b[31m\\u2028b"


def test_a_long_path_keeps_its_end_from_a_folder_on() -> None:
    path = "/".join(["folder"] * 60) + "/file.py"
    (cut,) = entry(b"? " + path.encode()).modified_files
    assert cut.startswith("…/folder/")
    assert path.endswith(cut[1:])
    assert PATH_LIMIT - 10 < len(cut) <= PATH_LIMIT


@pytest.mark.parametrize("character", ["é", "e\u0301", "漢", "👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "❤️"])
@pytest.mark.parametrize("before", range(95, 101))
def test_a_subject_is_cut_between_characters(character: str, before: int) -> None:
    (commit,) = recent_commits(b"abc1234 " + ("x" * before + character + "y" * 100).encode())
    subject = commit.removeprefix("abc1234 ")
    kept = subject.removesuffix("…").lstrip("x")
    assert len(subject) <= SUBJECT_LIMIT
    assert kept == "" or kept.startswith(character)


@pytest.mark.parametrize(
    ("complaint", "said"),
    [
        (b"warning: x\nfatal: not a git repository\nhint: y\n", "not a git repository"),
        (b"usage: git diff\n", "usage: git diff"),
        (b"error: a\x1b[31mb\n", "a\\x1b[31mb"),
        (b"", ""),
    ],
)
def test_what_git_says_is_its_reason_in_one_line(complaint: bytes, said: str) -> None:
    assert what_git_says(complaint) == said
