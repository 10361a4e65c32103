"""What is looked up in a working tree: of hostile ones nothing outside, and nothing that blocks."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from unified_state.restore.tree_view import TreeView, timed_view


@pytest.fixture
def view(tmp_path: Path) -> TreeView:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "Makefile").write_text("lint check:\n\truff check\n", encoding="utf-8")
    (tree / "limiter.py").write_text("def with_retry():\r\n    pass\r\n", encoding="utf-8")
    (tree / "限流").mkdir()
    (tree / "限流" / "规则.py").write_text("def with_规则_max(): ...", encoding="utf-8")
    (tmp_path / "secret.py").write_text("outside_name\n", encoding="utf-8")
    return TreeView(str(tree))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "tree"


def test_an_identifier_is_looked_for_in_its_file(view: TreeView) -> None:
    assert not view.lacks("limiter.py", "with_retry")
    assert view.lacks("limiter.py", "without_retry")
    assert not view.lacks("missing.py", "with_retry")  # the file itself is gone, which says nothing about the name
    assert view.lacks("限流/规则.py", "with_retry")
    assert not view.lacks("限流/规则.py", "größe")  # a file may have it in another encoding
    assert view.is_gone("限流/旧.py")
    assert not view.is_gone("限流/规则.py")


@pytest.mark.parametrize(
    "path", ["../secret.py", "/etc/passwd", "a/../../secret.py", "..\\secret.py", "", "\0", "x" * 999]
)
def test_nothing_outside_the_tree_is_looked_up(view: TreeView, path: str) -> None:
    assert not view.is_gone(path)
    assert view.content(path) is None


def test_a_link_out_of_the_tree_is_not_followed(view: TreeView, tree: Path) -> None:
    (tree / "link.py").symlink_to("../secret.py")
    (tree / "folder").symlink_to("..")
    (tree / "inner.py").symlink_to("limiter.py")
    assert view.content("link.py") is None
    assert view.content("folder/secret.py") is None
    assert not view.lacks("inner.py", "with_retry")
    assert not view.is_gone("link.py")


def test_what_is_no_text_file_says_nothing(view: TreeView, tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    (tree / "folder.py").mkdir()
    (tree / "binary.py").write_bytes(b"with\0out")
    (tree / "large.py").write_bytes(b"x" * (1 << 20))
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(tree)  # the path of a socket is short
        server.bind("socket.py")
        os.chdir(here)
    for name in ("pipe.py", "folder.py", "binary.py", "large.py", "socket.py"):
        assert view.content(name) is None
        assert not view.lacks(name, "with_retry")
        assert not view.is_gone(name)


def test_once_the_time_is_over_files_that_were_read_say_nothing_either(tree: Path, view: TreeView) -> None:
    has_time = True
    timed = TreeView(str(tree), lambda: has_time)
    assert timed.lacks("limiter.py", "without_retry")
    has_time = False
    assert not timed.lacks("limiter.py", "without_retry")


def test_once_the_time_is_over_nothing_is_gone(tree: Path, view: TreeView) -> None:
    assert not timed_view(str(tree), seconds=0).is_gone("a.py")
    assert view.is_gone("a.py")
