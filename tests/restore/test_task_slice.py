from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import Entry, answer, call, item, prompt, result
from unified_state.archive.archive import Archive
from unified_state.lib.query import words_of
from unified_state.model.item import ATTEMPT, LedgerItem
from unified_state.model.known import WorkingFile
from unified_state.restore.task_slice import fitting_files, fitting_items, open_tasks, read_task


def fitting(task: str, *items: LedgerItem) -> list[str]:
    """The refs of the items that fit, their words counted in a simple way."""
    asked = read_task(task)
    counts = [dict.fromkeys(asked.words.intersection(words_of(str(item.body))), 1.0) for item in items]
    return [found.alias for found in fitting_items(asked, items, counts)]


def files(task: str, *paths: str, items: tuple[LedgerItem, ...] = ()) -> list[str]:
    known = [WorkingFile(path, ("parse_entry",), is_used=True) for path in paths]
    return [file.path for file in fitting_files(read_task(task), known, items)]


def test_an_item_fits_by_a_word_that_tells_something() -> None:
    items = [item(number, decision=f"the {word} stays", rationale="") for number, word in enumerate(("parser", "log"))]
    assert fitting("parser tests", *items) == ["D0"]
    assert fitting("go on", *items) == []
    assert fitting("", *items) == []


def test_an_item_fits_by_a_file_that_the_task_names() -> None:
    about_file = item(1, decision="no cache").replace(files=("src/price.go",))
    assert fitting("Look at `price.go:12`.", about_file, item(2, decision="no log")) == ["D1"]


def test_a_failed_attempt_fits_by_its_file_or_its_command_alone() -> None:
    tried = item(1, ATTEMPT, attempt="edited the parser", command="go test ./...").replace(files=("src/price.go",))
    assert fitting("the parser was edited", tried) == []
    assert fitting("look at price.go", tried) == ["A1"]
    assert fitting("find out why `go test ./...` fails, edited parser", tried) == ["A1"]


def test_of_many_items_those_that_fit_best_are_told() -> None:
    items = [item(number, decision=f"alpha{number // 2} beta", rationale="") for number in range(200)]
    best = items[150].replace(files=("src/price.go",))
    task = "alpha7 beta in src/price.go"
    chosen = fitting(task, *items[:150], best)
    assert len(chosen) == 16
    assert {"D14", "D15", best.alias, "D149"} <= set(chosen)


def test_a_file_fits_by_its_name_its_words_or_an_identifier_in_it() -> None:
    paths = ("src/price.go", "src/error_report.py", "docs/index.md")
    assert files("Fix price.go", *paths) == ["src/price.go"]
    assert files("Write the error report", *paths) == ["src/error_report.py"]
    assert files("Where is parse_entry called?", *paths) == list(paths)
    assert files("Write the report", *paths) == []


def test_a_file_that_is_named_goes_before_those_that_are_only_meant() -> None:
    others = [f"src/f{number}.py" for number in range(50)]
    chosen = files("use parse_entry of price.go in the error report", *others, "error_report.py", "src/price.go")
    assert chosen == ["src/price.go", "error_report.py", *others[:4]]


def test_cjk_words_tell_too() -> None:
    assert fitting("解析器のテスト", item(1, decision="解析"), item(2, decision="印刷")) == ["D1"]


AGENT, OTHER = "a1b2c3d4e5f60718", "affffffffffffffff"


def asks(identity: str, task: str, *, tool: str = "Agent", **fields: object) -> Entry:
    """A block that calls for a subagent."""
    return call(identity, tool, prompt=task, **fields)


@pytest.mark.parametrize(
    ("entries", "tasks"),
    [
        ([answer(2, asks("t1", "do it"))], ["do it"]),
        ([answer(2, asks("t1", "do it", tool="Task", subagent_type="general-purpose"))], ["do it"]),
        ([answer(2, asks("t1", "one"), asks("t2", "two"), asks("t3", "3", subagent_type="Explore"))], ["one", "two"]),
        (
            [answer(2, asks("t1", "one")), result(3, "t1", "denied", is_error=True), answer(4, asks("t2", "two"))],
            ["two"],
        ),
        ([answer(2, asks("t1", "one"), asks("t2", "two")), result(3, "t2", f"launched. agentId: {AGENT}")], ["two"]),
        ([answer(2, asks("t1", "one"), asks("t2", "two")), result(3, "t2", f"launched. agentId: {OTHER}")], ["one"]),
        ([answer(2, asks("t1", "one", subagent_type=["a"]), call("t2", "Agent", prompt=7))], ["7"]),
        ([answer(2, asks("t1", "inner"), isSidechain=True, agentId=OTHER)], ["inner"]),
        ([], []),
    ],
)
def test_the_task_of_a_subagent_is_that_of_the_open_call(
    archive: Archive, keep: Callable[..., None], entries: list[Entry], tasks: list[str]
) -> None:
    keep(prompt(1, "delegate it"), *entries)
    assert [task.strip() for task in open_tasks(archive, 1, AGENT, "general-purpose")] == tasks


def test_a_call_whose_subagent_has_begun_is_not_that_of_another(archive: Archive, keep: Callable[..., None]) -> None:
    keep(prompt(1, "delegate it"), answer(2, asks("t1", "one"), asks("t2", "two")))
    assert [task.strip() for task in open_tasks(archive, 1, AGENT, "general-purpose", {"t1"})] == ["two"]
