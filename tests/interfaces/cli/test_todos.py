"""To-dos and highlights: each has an id, by which it is shown, changed, ended and opened again."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.cli.screen import run
from unified_state.state_file.manager import UnifiedStateManager


def test_a_todo_is_added_listed_changed_done_and_opened_again(repository: Path) -> None:
    assert run("todo", "Write the conflict test", cwd=repository).stdout == "N1\n"
    assert run("todo", "add", "Mend", cwd=repository).stdout == "N2\n"
    assert run("edit", "N2", "Mend the parser", cwd=repository).stdout == "N2\n"
    assert run("todo", cwd=repository).stdout == "N1: Write the conflict test\nN2: Mend the parser\n"
    assert run("done", "N1", cwd=repository).stdout == "N1\n"
    assert run("list", "todo", cwd=repository).stdout == "N2: Mend the parser\n"
    assert "N1: Write the conflict test [done]\n" in run("todo", "list", "--all", cwd=repository).stdout
    assert run("undo", "N1", cwd=repository).returncode == 0
    assert run("show", "n1", cwd=repository).stdout.startswith("N1  todo, ")
    state = UnifiedStateManager(repository).load_state()
    assert state is not None
    assert state.summaries.pending_actions == ("Write the conflict test", "Mend the parser")
    assert "Mend the parser" in run("preview", "--startup", cwd=repository).stdout


def test_undo_takes_back_the_newest_change_of_items_and_todos_alike(repository: Path) -> None:
    run("add", "decision", "SQLite", cwd=repository)
    run("todo", "Ship", cwd=repository)
    run("done", "N1", cwd=repository)
    assert "N1 is open now: Ship" in run("undo", cwd=repository).stdout
    assert run("todo", cwd=repository).stdout == "N1: Ship\n"
    assert "N1 is done now: Ship" in run("undo", cwd=repository).stdout
    assert run("todo", cwd=repository).stdout == ""
    assert "D1 is dismissed now" in run("undo", cwd=repository).stdout


def test_every_action_of_a_long_list_can_be_reached(repository: Path) -> None:
    actions = [word for number in range(30) for word in ("--action", f"Step {number}")]
    assert run("save", *actions, "--highlight", "The tests are green", cwd=repository).returncode == 0
    assert len(run("list", "todo", cwd=repository).stdout.splitlines()) == 30
    (note,) = run("list", "note", cwd=repository).stdout.splitlines()
    assert note.endswith(": The tests are green")
    assert run("drop", note.split(":")[0], cwd=repository).returncode == 0
    assert "The tests are green" not in run("load", cwd=repository).stdout


def test_what_is_no_note_is_refused(repository: Path) -> None:
    run("add", "note", "The tests are green", cwd=repository)
    for arguments in (("edit", "N9", "x"), ("done", "N9"), ("edit", "N1", " "), ("show", "N9")):
        assert run(*arguments, cwd=repository).returncode in {1, 2}, arguments


def test_a_program_has_todos_too(repository: Path) -> None:
    manager = UnifiedStateManager(repository)
    first = manager.add_todo("Write the conflict test")
    manager.add_todo("Mend the parser")
    assert manager.resolve_todo(first.id).done
    assert [one.text for one in manager.list_todos()] == ["Mend the parser"]


def test_the_user_orders_them_and_a_new_one_is_the_last(repository: Path) -> None:
    for text in ("Write the test", "Mend the parser", "Publish it"):
        run("todo", text, cwd=repository)
    assert run("edit", "N3", "--before", "N1", cwd=repository).stdout == "N3\n"
    assert run("edit", "N2", "--before", "n1", cwd=repository).stdout == "N2\n"
    run("todo", "Tell them", cwd=repository)
    order = ["Publish it", "Mend the parser", "Write the test", "Tell them"]
    listed = run("list", "todo", cwd=repository).stdout.splitlines()
    assert [line.partition(": ")[2] for line in listed] == order
    state = UnifiedStateManager(repository).load_state()
    assert state is not None
    assert state.summaries.pending_actions == tuple(order)
    restored = run("preview", cwd=repository).stdout
    assert sorted(order, key=restored.index) == order
    run("done", "N1", cwd=repository)
    run("undo", "N1", cwd=repository)
    again = run("list", "todo", cwd=repository).stdout.splitlines()
    assert again == listed


def test_what_cannot_be_ordered_is_refused(repository: Path) -> None:
    run("todo", "Write the test", cwd=repository)
    run("add", "decision", "SQLite", cwd=repository)
    for arguments in (("N1", "--before", "N9"), ("N1", "--before", "N1")):
        assert run("edit", *arguments, cwd=repository).returncode == 2, arguments
    assert run("edit", "N9", "--before", "N1", cwd=repository).returncode == 1  # it is not there
    assert "there is nothing to change in D1" in run("edit", "D1", "--before", "N1", cwd=repository).stderr
