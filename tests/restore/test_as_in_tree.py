from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW
from unified_state.memory.working_tree.tree_view import TreeView
from unified_state.model.known import Known, Recent, Run, WorkingFile, WorkingSet
from unified_state.restore.as_in_tree import as_in_tree
from unified_state.restore.rules.compose import compose


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "limiter.py").write_text("def with_retry(): ...\n", encoding="utf-8")
    return tmp_path


def known(*files: WorkingFile, **recent: Any) -> Known:
    return Known(reason="compact", now=NOW, working_set=WorkingSet(files=files), recent=Recent(**recent))


def file(path: str, *words: str, hot: float = 6.0, score: float = 9.0) -> WorkingFile:
    return WorkingFile(path=path, score=score, hot=hot, words=tuple((word, 6.0) for word in words))


def restored(tree: Path, found: Known) -> str:
    return compose(as_in_tree(found, TreeView(str(tree)), str(tree)), 1000).working_set


def test_a_file_that_is_gone_is_marked_and_its_names_are_left_out(tree: Path) -> None:
    told = restored(tree, known(file("limiter.py", "with_retry"), file("server.py", "serve_all")))
    assert "limiter.py: with_retry" in told
    assert "server.py (gone)" in told
    assert "serve_all" not in told


def test_a_name_that_is_not_in_its_file_now_is_told_as_such_once(tree: Path) -> None:
    told = restored(tree, known(file("limiter.py", "with_retry", "old_retry")))
    assert "limiter.py: with_retry\n" in told + "\n"
    assert told.count("old_retry") == 1
    assert "not in them now: old_retry (limiter.py)" in told


def test_a_name_that_moved_to_another_file_of_the_session_is_not_told_as_gone(tree: Path) -> None:
    (tree / "retry.py").write_text("def old_retry(): ...\n", encoding="utf-8")
    told = restored(tree, known(file("limiter.py", "with_retry", "old_retry"), file("retry.py", "old_retry")))
    assert "not in them now" not in told
    assert "retry.py: old_retry" in told


def test_a_file_that_was_only_mentioned_may_have_another_path(tree: Path) -> None:
    assert "(gone)" not in restored(tree, known(file("server.py", hot=0.0)))


@pytest.mark.parametrize("root", ["", "/home/ada/elsewhere"])
def test_a_session_of_another_folder_is_not_compared(tree: Path, root: str) -> None:
    found = known(file("server.py", "serve_all"))
    assert as_in_tree(found, TreeView(str(tree)), root) == found


def test_a_link_to_the_tree_is_the_tree(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("links") / "link"
    link.symlink_to(tree)
    found = as_in_tree(known(file("server.py")), TreeView(str(tree)), str(link))
    assert found.working_set is not None
    assert found.working_set.files[0].gone == "gone"


def test_commands_whose_target_is_gone_and_edited_files_that_are_gone_are_marked(tree: Path) -> None:
    (tree / "Makefile").write_text("lint:\n", encoding="utf-8")
    runs = tuple(
        Run(command=command, age=age, last="ok", lines=1, checks=True, parts=frozenset({command}))
        for age, command in enumerate(("make lint", "make test", "cd web && make e2e"), 3)
    )
    found = as_in_tree(known(runs=runs, edits=(("limiter.py", 0), ("server.py", 1))), TreeView(str(tree)), str(tree))
    composed = compose(found, 1000)
    assert "not committed (no commit seen): limiter.py, server.py (gone)" in composed.brief
    assert "command: make test (its script or target is gone now) -> ended: ok" in composed.working_set
    assert "command: make lint -> ended: ok" in composed.working_set
    assert "command: cd web && make e2e -> ended: ok" in composed.working_set


def test_a_tree_that_is_gone_altogether_marks_what_it_can_tell(tree: Path) -> None:
    found = known(file("limiter.py", "with_retry"))
    shutil.rmtree(tree)
    assert "limiter.py (gone)" in restored(tree, found)


def test_of_ten_thousand_files_few_are_looked_at(tree: Path) -> None:
    many = known(*(file(f"f{number}.py", "some_name") for number in range(10_000)))
    found = as_in_tree(many, TreeView(str(tree)), str(tree))
    assert found.working_set is not None
    assert sum(bool(one.gone) for one in found.working_set.files) == 60
    assert len(found.working_set.files) == 10_000
