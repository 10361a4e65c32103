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
