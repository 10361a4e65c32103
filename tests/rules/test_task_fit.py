from __future__ import annotations

from tests.builders import item
from unified_state.records.item import LedgerItem
from unified_state.records.working_set import WorkingFile
from unified_state.rules.task_fit import Task, fitting_files, fitting_items, read_task


def fitting(task: str, *items: LedgerItem) -> list[str]:
    """The refs of the items that fit, their words counted in a simple way."""
    asked = read_task(task)
    counts = [
        {word: 1.0 for word in asked.words if word in str(item.body.get("decision", "")).lower().split()}
        for item in items
    ]
    return [found.alias for found in fitting_items(asked, items, counts)]


def files(task: str | Task, *paths: str, items: tuple[LedgerItem, ...] = ()) -> list[str]:
    asked = read_task(task) if isinstance(task, str) else task
    known = [WorkingFile(path, 1.0, 1.0, (("parse_entry", 1.0),)) for path in paths]
    return [file.path for file in fitting_files(asked, known, items)]


def test_an_item_fits_by_a_word_that_tells_something() -> None:
    items = [item(number, decision=f"the {word} stays") for number, word in enumerate(("parser", "printer", "log"))]
    assert fitting("Write tests for the parser", *items) == ["D0"]
    assert fitting("Go on, please", *items) == []
    assert fitting("", *items) == []


def test_a_word_that_many_items_have_tells_nothing() -> None:
    items = [item(number, decision=f"the archive has part{number}") for number in range(12)]
    assert fitting("Test the archive", *items) == []
    assert fitting("Test part7 of the archive", *items) == ["D7"]


def test_an_item_fits_by_a_file_that_the_task_names() -> None:
    about_file = item(1, decision="no cache").replace(files=("src/price.go",))
    assert fitting("Look at `price.go:12`.", about_file, item(2, decision="no log")) == ["D1"]


def test_of_many_items_those_that_fit_best_are_told() -> None:
    items = [item(number, decision=f"alpha{number // 2} beta") for number in range(200)]
    best = items[150].replace(files=("src/price.go",))
    task = " ".join(f"alpha{number}" for number in range(60)) + " in src/price.go"
    chosen = fitting(task, *items[:150], best)
    assert len(chosen) == 16
    assert best.alias in chosen


def test_a_file_fits_by_its_name_its_words_or_an_identifier_in_it() -> None:
    paths = ("src/price.go", "src/error_report.py", "docs/index.md")
    assert files("Fix price.go", *paths) == ["src/price.go"]
    assert files("Write the error report", *paths) == ["src/error_report.py"]
    assert files("Where is parse_entry called?", *paths) == list(paths)
    assert files("Write the report", *paths) == []


def test_a_file_fits_that_a_fitting_item_speaks_of() -> None:
    about_file = item(1, decision="no cache").replace(files=("src/price.go",))
    assert files("anything", "src/price.go", "src/other.go", items=(about_file,)) == ["src/price.go"]


def test_at_most_eight_files_are_told() -> None:
    assert len(files("use parse_entry", *(f"src/f{number}.py" for number in range(50)))) == 8


def test_cjk_words_tell_too() -> None:
    assert fitting("解析器のテスト", item(1, decision="解析"), item(2, decision="印刷")) == ["D1"]
