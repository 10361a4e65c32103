from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.builders import NOW
from unified_state.model.known import RestoreInput, WorkingFile
from unified_state.restore.compose_restore import as_in_tree
from unified_state.restore.rules.compose import compose
from unified_state.restore.tree_view import TreeView


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "limiter.py").write_text("def with_retry(): ...\n", encoding="utf-8")
    return tmp_path


def known(*files: WorkingFile) -> RestoreInput:
    return RestoreInput(reason="compact", now=NOW, working_set=files)


def file(path: str, *words: str, is_used: bool = True) -> WorkingFile:
    return WorkingFile(path=path, words=words, is_used=is_used)


def restored(tree: Path, found: RestoreInput) -> str:
    return compose(as_in_tree(found, TreeView(str(tree)), str(tree)), 1000).brief


def test_a_file_that_is_gone_is_marked_and_its_names_are_left_out(tree: Path) -> None:
    told = restored(tree, known(file("limiter.py", "with_retry"), file("server.py", "serve_all")))
    assert "limiter.py: with_retry" in told
    assert "server.py (gone)" in told
    assert "serve_all" not in told


def test_a_name_that_is_not_in_its_file_now_is_left_out(tree: Path) -> None:
    told = restored(tree, known(file("limiter.py", "with_retry", "old_retry")))
    assert "limiter.py: with_retry\n" in f"{told}\n"
    assert "old_retry" not in told


def test_a_file_that_was_only_mentioned_may_have_another_path(tree: Path) -> None:
    assert "(gone)" not in restored(tree, known(file("server.py", is_used=False)))


@pytest.mark.parametrize("root", ["", "/home/ada/elsewhere"])
def test_a_session_of_another_folder_is_not_compared(tree: Path, root: str) -> None:
    found = known(file("server.py", "serve_all"))
    assert as_in_tree(found, TreeView(str(tree)), root) == found


def test_a_link_to_the_tree_is_the_tree(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("links") / "link"
    link.symlink_to(tree)
    found = as_in_tree(known(file("server.py")), TreeView(str(tree)), str(link))
    assert found.working_set[0].gone == "gone"


def test_a_tree_that_is_gone_altogether_marks_what_it_can_tell(tree: Path) -> None:
    found = known(file("limiter.py", "with_retry"))
    shutil.rmtree(tree)
    assert "limiter.py (gone)" in restored(tree, found)
